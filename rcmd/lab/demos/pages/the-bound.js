const MOST = 4096, SUB = "₁₂₃₄";

function subsets(n, size, first = 0) {
  if (size === 0) return [[]];
  return span(n - first, first, n - 1).flatMap((j) => subsets(n, size - 1, j + 1).map((others) => [j, ...others]));
}
const copied = (run) => Object.assign(Object.create(Run.prototype), run, Object.fromEntries(["s", "w", "d", "beta", "wAverage"].map((name) => [name, run[name].slice()])));

live({
  controls: [
    words("loss", "Loss l(s; y) =", "(s - y)**2/2"), pick("n", "Rows n", ["2", "3", "4"], "3"), range("b", "Batch b", 1, 4, 1), range("radius", "‖β‖₁ ≤", 0.5, 4, 2, 0.5),
  ],
  state: { rows: [[0.27, -0.46], [-0.92, -0.97], [0.63, 0.83], [0.21, 0.46]], y: [0.37, -0.25, 0.11, -0.04] },
  limits({ n }, { b }) { b.max = n; read(); },
  run({ loss, n, b, radius, rows, y }) {
    const problem = new Problem({ X: rows.slice(0, n), y: y.slice(0, n), loss, set: SETS.l1(radius) }), batches = subsets(+n, b);
    const steps = Math.min(Math.floor(Math.log(MOST) / Math.log(batches.length) + 1e-9), 8), frames = [];
    let runs = [new Run(problem, { kind: "sublinear", batch: b })];
    for (let t = 1; t <= steps; t++) {
      runs = runs.flatMap((run) => batches.map((batch) => { const next = copied(run); next.batches = { [run.i]: batch }; next.step(); return next; }));
      const gaps = Float64Array.from(runs, (run) => run.gap()).sort();
      frames.push({ gaps, mean: mean([...gaps]), bound: runs[0].bound("sublinear-energy") });
    }
    return Object.assign(frames, { problem });
  },
  show(frames, t, { rows, loss, n, b, radius }) {
    const { problem, ...all } = frames, list = Object.values(all), steps = span(list.length, 1, list.length), { gaps, mean, bound } = frames[t];
    const low = list.map((one) => one.gaps[0]), high = list.map((one) => one.gaps.at(-1)), y = logAxis("gap P(β̄) − D(w̄)", low, high, list.map((one) => one.bound));
    const shares = [...gaps].flatMap((gap, k) => [[gap, k / gaps.length], [gap, (k + 1) / gaps.length]]);
    const upright = (name, colour, x) => line(name, colour, [[x, 0], [x, 1.05]], { width: 2.5 });
    return {
      panels: [
        { x: axis("steps", 0.7, list.length + 0.3, { whole: true }), y, marks: [
          line("from best to worst sequence", SKY, [...pairs(steps, low), ...pairs(steps, high).reverse()], { width: 0.5, fill: "rgba(86,180,233,.25)" }),
          line("bound", VERMILION, pairs(steps, list.map((one) => one.bound)), { width: 2.5 }), line("exact expectation", BLUE, pairs(steps, list.map((one) => one.mean)), { width: 2.5 }),
          dots("", VERMILION, [[t + 1, bound]]), dots("", BLUE, [[t + 1, mean]]),
        ] },
        { x: y, y: axis("share with a smaller gap", 0, 1.05), marks: [line("sequences", SKY, [[y.low, 0], ...shares, [y.high, 1], [y.high, 0]], { fill: "rgba(86,180,233,.25)" }), upright("exact expectation", BLUE, mean), upright("bound", VERMILION, bound)] },
        { x: axis("first entry of x", -1.3, 1.3), y: axis("second entry of x", -1.3, 1.3), equal: true, marks: [line("", GREY, [[0, -2], [0, 2]], { width: 1 }), line("", GREY, [[-2, 0], [2, 0]], { width: 1 })],
          handles: rows.slice(0, n).map((at, j) => ({ at, name: `x${SUB[j]}`, colour: PURPLE, move: (u, v) => { rows[j] = [u, v]; } })) },
      ],
      numbers: [String(gaps.length), mean, bound, `${number(bound / mean)} times`, gaps[0], gaps.at(-1)],
      label: `step ${t + 1}`,
      program: { X: problem.X, y: problem.y, loss, radius, b, steps: String(t + 1) },
    };
  },
});
