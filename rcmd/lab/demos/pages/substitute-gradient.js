const PASSES = 50, WIDTH = 8, ROUND = 180 / Math.PI;
const angle = (u, v) => { const a = scaled(1 / norm(u), u), b = scaled(1 / norm(v), v); return 2 * ROUND * Math.atan2(norm(less(a, b)), norm(a.map((x, k) => x + b[k]))); };
const less = (u, v) => u.map((x, k) => x - v[k]);

live({
  controls: [
    words("loss", "Loss l(s; y) =", "log(1 + exp(-y*s))"), range("n", "Rows n", 20, 200, 80, 10), range("b", "Batch b", 1, 80, 1),
    pick("set", "Set", ["ℓ₁ ball", "ℓ₂ ball"], "ℓ₁ ball"), range("radius", "Radius", 0.5, 8, 1, 0.5), seed(),
  ],
  limits({ n }, { b }) { b.max = n; read(); },
  start: 8,
  run({ loss, n, b, set, radius, seed }) {
    const next = random(seed), X = span(n).map(() => span(WIDTH).map(() => +(0.6 * normal(next)).toFixed(2)));
    const y = X.map((x) => (x[0] - x[2] + 0.5 * x[4] + 0.8 * normal(next) > 0 ? 1 : -1));
    const problem = new Problem({ X, y, loss, set: (set === "ℓ₁ ball" ? SETS.l1 : SETS.l2)(radius) }), run = new Run(problem, { kind: "sublinear", batch: b, seed: seed + 1 });
    const steps = Math.round((PASSES * n) / b), times = [...new Set(span(45, 0, 1).map((share) => Math.round(steps ** share)))];
    const frames = times.map((time) => {
      while (run.i < time) run.step();
      const answers = problem.answers(run.beta), g = problem.gradient(answers), d = run.d.slice();
      const single = X.map((x, j) => angle(scaled(answers[j], x), Array.from(g))).filter(Number.isFinite);
      return { passes: (time * b) / n, steps: time, g, d, angle: angle(Array.from(d), Array.from(g)), single: mean(single), rest: norm(less(d, g)) };
    });
    return Object.assign(frames, { problem });
  },
  show(frames, t, { loss, b, set, radius }) {
    const { problem, ...all } = frames, list = Object.values(all), now = frames[t], passes = list.map((one) => one.passes), curve = (of) => pairs(passes, list.map(of));
    const [g, d, rest] = [list.map((one) => norm(one.g)), list.map((one) => norm(one.d)), list.map((one) => one.rest)], reach = 1.1 * Math.max(...list.flatMap((one) => [...one.g, ...one.d].map(Math.abs)));
    const x = logAxis("passes over the data", passes), lengths = logAxis("Euclidean norm", g, d, rest), degrees = axis("angle to g, in degrees", -5, 185);
    const cursor = ({ low, high }) => line("", GREY, [[now.passes, low], [now.passes, high]], { width: 1.5, dash: "2 3" });
    return {
      panels: [
        { x, y: lengths, marks: [line("true gradient g", BLUE, pairs(passes, g)), line("substitute d", VERMILION, pairs(passes, d)), line("difference d − g", GREEN, pairs(passes, rest)), cursor(lengths)] },
        { x, y: degrees, marks: [line("one row's gradient, mean", ORANGE, curve((one) => one.single), { dash: "7 4" }), line("substitute d", VERMILION, curve((one) => one.angle)), cursor(degrees), dots("", VERMILION, [[now.passes, now.angle]])] },
        { x: axis("component", 0.5, WIDTH + 0.5, { whole: true }), y: axis("value", -reach, reach), marks: [bars("true gradient g", BLUE, now.g, 0, 2), bars("substitute d", VERMILION, now.d, 1, 2), line("", GREY, [[0, 0], [WIDTH + 1, 0]], { width: 1 })] },
      ],
      numbers: [String(now.steps), norm(now.g), norm(now.d), now.rest, `${number(now.angle)}°`, `${number(now.single)}°`],
      label: `${number(now.passes)} ${now.passes === 1 ? "pass" : "passes"}`,
      program: { X: problem.X, y: problem.y, loss, b, set: `${set === "ℓ₁ ball" ? "L1Ball" : "L2Ball"}(${radius})`, steps: String(now.steps) },
    };
  },
});
