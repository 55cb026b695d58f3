const STEPS = 30, LOOKS = { published: VERMILION, corrected: BLUE, own: ORANGE };

live({
  controls: [range("n", "Rows n", 4, 20, 10), range("b", "Batch b", 1, 10, 10), range("alike", "Alike", 0, 1, 1, 0.05), words("own", "Your step η(i, N, n, b, sigma) =", "1.5/(sigma + 0.5)"), seed()],
  limits({ n }, { b }) { b.max = n; read(); },
  start: 6,
  run({ n, b, alike, own, seed }) {
    const shared = Math.sqrt(alike), apart = Math.sqrt(1 - alike), X = span(n).map((j) => [shared, ...span(n).map((k) => (k === j ? apart : 0))]);
    const problem = new Problem({ X, y: X.map(() => 1), loss: "(s - y)**2/2", set: SETS.ridge(0.65, 4) }), { printed, sigma } = problem.sigmas(b);
    const runs = Object.fromEntries(Object.keys(LOOKS).map((name) => {
      const run = new Run(problem, { kind: "linear", batch: b, seed, sigma: name === "published" ? printed : sigma, own: name === "own" ? own : null });
      return [name, record(run, STEPS, () => ({ at: mean([...run.w]), dual: problem.dual(run.w, run.s), gap: run.i ? run.gap() : NaN, bound: run.i ? run.bound("linear-quadratic") : NaN, batch: run.rows }))];
    }));
    return Object.assign(span(STEPS + 1), { runs, problem, printed, sigma });
  },
  show({ runs, problem, printed, sigma }, t, { b, own }) {
    const every = Object.keys(LOOKS), places = every.flatMap((name) => runs[name].map(({ at }) => at)), room = 0.2 * (Math.max(...places) - Math.min(...places)) || 1;
    const along = span(90, Math.min(...places) - room, Math.max(...places) + room), hill = along.map((w) => problem.dual(problem.y.map(() => w))), top = leader(hill);
    const gaps = (name) => pairs(span(STEPS + 1), runs[name].map(({ gap }) => gap)), bounds = runs.corrected.map(({ bound }) => bound), words = { published: "published step", corrected: "corrected step", own: "your step" };
    const y = logAxis("gap P(β̄) − D(w)", ...every.map((name) => runs[name].map(({ gap }) => gap)), bounds), tracks = (name) => runs[name].slice(0, t + 1).map(({ at, dual }) => [at, dual]), now = (name) => runs[name][t];
    return {
      panels: [
        { x: axis("mean of the dual variables w", along[0], along.at(-1)), y: axis("dual value D(w)", Math.min(...hill), Math.max(...hill) + 0.05 * (hill[top] - Math.min(...hill))), marks: [
          line("D along equal coordinates", GREY, pairs(along, hill)), dots("top", BLACK, [[along[top], hill[top]]], "star"),
          ...every.flatMap((name) => [line(words[name], LOOKS[name], tracks(name), { width: 1.5 }), dots("", LOOKS[name], tracks(name))]),
        ] },
        { x: axis("steps", 0, STEPS + 1, { whole: true }), y, marks: [
          line("proved bound, corrected", BLUE, pairs(span(STEPS + 1), bounds), { width: 1.5, dash: "7 4" }), ...every.map((name) => line(words[name], LOOKS[name], gaps(name))),
          line("", GREY, [[t, y.low], [t, y.high]], { width: 1.5, dash: "2 3" }), ...every.map((name) => dots("", LOOKS[name], [[t, now(name).gap]])),
        ] },
      ],
      numbers: [printed, sigma, ...every.map((name) => (t ? now(name).gap : "–")), t ? now("corrected").bound : "–"],
      label: `step ${t}`,
      program: { X: problem.X, b, own, batches: runs.corrected.slice(1).map(({ batch }) => batch) },
    };
  },
});
