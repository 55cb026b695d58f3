const PASSES = 1000, WIDTH = 5, LOOKS = { paper: BLUE, exact: GREEN, own: ORANGE };

live({
  controls: [
    words("loss", "Loss l(s; y) =", "log(1 + exp(-y*s))"), words("own", "Your step η(i, N, n, b, sigma) =", "1/sqrt(sigma)"),
    range("n", "Rows n", 10, 100, 40, 5), range("b", "Batch b", 1, 40, 1), pick("mu", "Strength μ", ["0.001", "0.01", "0.1"], "0.01"), seed(),
  ],
  limits({ n }, { b }) { b.max = n; read(); },
  start: 80,
  run({ loss, own, n, b, mu, seed }) {
    const next = random(seed), X = span(n).map(() => { const size = Math.exp(0.7 * normal(next)); return span(WIDTH).map(() => +(size * normal(next)).toFixed(2)); });
    const y = X.map((x) => (x[0] - x[1] + normal(next) > 0 ? 1 : -1)), problem = new Problem({ X, y, loss, set: SETS.ridge(+mu, 10) });
    const steps = Math.round((PASSES * n) / b), times = new Set(span(110, 0, 1).map((share) => Math.round(steps ** share)));
    const curves = Object.fromEntries(Object.keys(LOOKS).map((name) => {
      const run = new Run(problem, { kind: name === "exact" ? "exact" : "linear", batch: b, seed: seed + 1, own: name === "own" ? own : null });
      const bound = { paper: "linear-energy", exact: "exact-start" }[name];
      const seen = [...times].map((time) => {
        while (run.i < time) run.step();
        const shares = y.map((label, j) => 1 / (1 + run.kappas[j] * problem.loss.bend(run.s[j], label)));
        return { passes: (time * b) / n, gap: run.gap(), bound: bound ? run.bound(bound) : NaN, share: name === "exact" ? mean(shares) : run.eta() };
      });
      return [name, Object.assign(seen, { sigma: run.sigma })];
    }));
    return Object.assign([...times], { curves, problem });
  },
  show({ curves, problem, ...times }, t, { loss, own, b, mu }) {
    const passes = curves.paper.map((one) => one.passes), of = (name, what) => curves[name].map((one) => one[what]), at = passes[t];
    const every = Object.keys(LOOKS), gaps = every.map((name) => of(name, "gap").map((gap) => Math.max(gap, 1e-16))), bounds = ["paper", "exact"].map((name) => of(name, "bound"));
    const words = { paper: "the paper's step 1/σ", exact: "exact steps (Theorem I)", own: "your step" };
    const y = logAxis("gap P(β̄) − D(w)", ...gaps, ...bounds.map((one) => one.filter((value) => value > 1e-16))), x = logAxis("passes over the data", passes);
    const cursor = ({ low, high }) => line("", GREY, [[at, low], [at, high]], { width: 1.5, dash: "2 3" }), share = axis("share of the way", 0, 1.05);
    return {
      panels: [
        { x, y, marks: [
          ...["paper", "exact"].map((name, k) => line(`bound, ${name}`, LOOKS[name], pairs(passes, bounds[k]), { dash: "7 4", width: 1.5 })),
          ...every.map((name, k) => line(words[name], LOOKS[name], pairs(passes, gaps[k]), { width: 2.5 })), cursor(y),
          ...every.map((name, k) => dots("", LOOKS[name], [[at, gaps[k][t]]])),
        ] },
        { x, y: share, marks: [...every.map((name) => line(words[name], LOOKS[name], pairs(passes, of(name, "share")), { width: 1.5 })), cursor(share)] },
      ],
      numbers: [curves.paper.sigma, ...every.map((name) => curves[name][t].gap), ...["paper", "exact"].map((name) => curves[name][t].bound)],
      label: `${number(at)} ${at === 1 ? "pass" : "passes"}`,
      program: { X: problem.X, y: problem.y, loss, mu, b, own },
    };
  },
});
