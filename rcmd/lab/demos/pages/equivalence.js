const STEPS = 40, EDGE = 3.3, SUB = "₁₂₃₄₅₆";

// Algorithm 1: predictions and atoms are averaged, and no dual variable is ever formed.
function* frankWolfe({ loss, y, set, p, n, predict, gradient, add, X, entries }, batches) {
  const data = { X, n, p, entries }, s = y.map(() => 0), beta = new Float64Array(p), N = n / batches[0].length;
  const d = gradient.call({ ...data, add }, y.map((label, j) => loss.slope(s[j], label)));
  for (const [i, rows] of batches.entries()) {
    const alpha = (2 * (2 * N + i)) / ((i + 1) * (4 * N + i)), eta = (2 * N) / (2 * N + i + 1), atom = set.argmin(d);
    for (const j of rows) {
      const to = (1 - eta) * s[j] + eta * predict.call(data, j, atom);
      add.call(data, j, (loss.slope(to, y[j]) - loss.slope(s[j], y[j])) / n, d);
      s[j] = to;
    }
    beta.forEach((value, k) => { beta[k] = (1 - alpha) * value + alpha * atom[k]; });
    yield [...beta, ...s, ...d];
  }
}

live({
  controls: [words("loss", "Loss l(s; y) =", "log(1 + exp(-y*s))"), range("n", "Rows n", 2, 6, 2), range("b", "Batch b", 1, 2, 1), seed()],
  state: {
    corners: [[3, 0], [0, 3], [-3, 0], [0, -3]],
    rows: [[2, 0.5], [0.3, 1.2], [-1.2, 1], [1.1, -1.6], [-0.8, -1.1], [1.5, 1.7]],
  },
  start: 6,
  limits(state, { b }) { b.max = state.n; read(); },
  run({ loss, n, b, seed, corners, rows }) {
    const y = span(n).map((j) => (j % 2 ? -1 : 1)), make = () => new Problem({ X: rows.slice(0, n), y, loss, set: SETS.hull(corners) });
    const problem = make(), run = new Run(problem, { kind: "sublinear", batch: b, seed }), far = new Run(problem, { kind: "sublinear", batch: n });
    for (let k = 0; k < 1500; k++) far.step();
    const frames = record(run, STEPS, () => ({
      s: run.s.slice(), w: run.w.slice(), d: run.d.slice(), beta: run.beta.slice(), wAverage: run.wAverage.slice(), atom: run.atom, batch: run.rows,
      eta: run.eta(), alpha: run.alpha(), primal: run.primal(), dual: run.dual(), bound: run.i ? run.bound("sublinear-energy") : NaN,
    }));
    const other = [...frankWolfe(problem, frames.slice(1).map(({ batch }) => batch))];
    let worst = 0;
    frames.forEach((frame, i) => {
      if (i) other[i - 1].forEach((value, k) => { worst = Math.max(worst, Math.abs(value - [...frame.beta, ...frame.s, ...frame.d][k])); });
      frame.worst = worst;
    });
    return Object.assign(frames, { problem, best: far });
  },
  show(frames, t, { corners, rows, loss, b }) {
    const { problem, best } = frames, { n, y, reach } = problem, now = frames[t], last = frames[Math.max(t - 1, 0)], past = frames.slice(0, t + 1);
    const atom = now.atom ?? problem.set.argmin(now.d), far = scaled(1.5 / (norm(last.d) || 1), last.d);
    const [ends, others] = [[0, 1].map((j) => [problem.loss.slope(-reach[j], y[j]), problem.loss.slope(reach[j], y[j])]), now.w.slice(2)];
    const grid = span(34, -EDGE, EDGE), sides = ends.map(([low, high]) => span(34, low, high));
    const known = sides.map((side, j) => new Map(side.map((w) => [w, problem.loss.conjugate(w, y[j])])));
    const dual = (u, v) => { const d = problem.gradient([u, v, ...others]); return dot(d, problem.set.argmin(d)) - (known[0].get(u) + known[1].get(v)) / n; };
    const heights = sides[0].map((u) => sides[1].map((v) => dual(u, v))), top = Math.max(...heights.flat());
    const least = Math.min(...grid.flatMap((u) => grid.map((v) => problem.primal([u, v]))));
    const at = ({ w }) => [w[0], w[1]], [low, high] = ends[0], [bottom, up] = ends[1], steps = (of) => past.map((frame, k) => [k, of(frame)]);
    const primal = [
      levels((u, v) => problem.primal([u, v]) - least, [grid, grid], BLUE),
      line("the set", GREY, [...hullOf(corners), hullOf(corners)[0]], { width: 1.5 }),
      dots("optimum β*", BLACK, [best.beta], "star"), arrow("−d", ORANGE, [[0, 0], [-far[0], -far[1]]]),
      line("average β̄", BLUE, past.map(({ beta }) => beta)), dots("atom β̃", ORANGE, [atom], "diamond"), dots("", BLUE, [now.beta]),
    ];
    const mirror = [
      levels((u, v) => top - heights[sides[0].indexOf(u)][sides[1].indexOf(v)], sides, VERMILION),
      ...(n === 2 ? [dots("optimum w*", BLACK, [at(best)], "star")] : []), line("iterates w", VERMILION, past.map(at), { width: 1.5 }),
      line("last step", VERMILION, [at(last), at(now)], { width: 5 }), dots("", VERMILION, [at(now)]), dots("average w̄", VERMILION, [now.wAverage.slice(0, 2)], "ring"),
    ];
    const gaps = frames.map((frame) => frame.primal - frame.dual), bounds = frames.map(({ bound }) => bound);
    const race = [
      line("bound", VERMILION, pairs(span(frames.length), bounds), { dash: "7 4" }), line("gap of the averages", BLUE, pairs(span(frames.length), gaps)),
      dots("", BLUE, [[t, gaps[t]]]),
    ];
    const handles = [
      ...corners.map((at, k) => ({ at, name: `corner ${k + 1}`, colour: GREY, move: (u, v) => { corners[k] = [u, v]; } })),
      ...rows.slice(0, n).map((at, j) => ({ at, name: `x${SUB[j]}`, colour: PURPLE, move: (u, v) => { rows[j] = [u, v]; } })),
    ];
    const batches = frames.slice(1).map(({ batch }) => batch), pair = (vector) => `(${[...vector].map((v) => number(v)).join(", ")})`;
    return {
      panels: [
        { x: axis("β₁", -EDGE, EDGE), y: axis("β₂", -EDGE, EDGE), marks: primal, handles, equal: true },
        { x: axis("w₁", low, high), y: axis("w₂", bottom, up), marks: mirror },
        { x: axis("steps", 0, STEPS, { whole: true }), y: logAxis("gap, bound", gaps, bounds), marks: race },
      ],
      numbers: [t ? now.batch.map((j) => j + 1).join(", ") : "none yet", pair(atom), t ? `${number(last.eta)}, ${number(last.alpha)}` : "–", now.primal, now.dual, gaps[t], now.bound, now.worst],
      label: `i = ${t}`,
      program: { X: problem.X, y, loss, corners, batches, b },
    };
  },
});

// The corners that are not inside, in their order around the set.
function hullOf(points) {
  const [cx, cy] = [0, 1].map((k) => mean(points.map((point) => point[k]))), turn = ([x, y]) => Math.atan2(y - cy, x - cx);
  const outside = span(180, -Math.PI, Math.PI).map((a) => points[leader(points.map(([x, y]) => x * Math.cos(a) + y * Math.sin(a)))]);
  return [...new Set(outside)].sort((one, other) => turn(one) - turn(other));
}
