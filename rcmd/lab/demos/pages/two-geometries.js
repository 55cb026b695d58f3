const STEPS = 40, CEILING = 1.5, LOOKS = { conjugate: [BLUE, ""], Euclidean: [VERMILION, "7 4"], exact: [GREEN, "2 3"] };

live({
  controls: [words("loss", "Loss l(s; y) =", "log(1 + exp(-y*s))"), range("mu", "Strength μ", 0.05, 1, 0.2, 0.05), range("b", "Batch b", 1, 2, 1), seed()],
  state: { rows: [[2, 0.5], [0.3, 1.2]] },
  start: 14,
  run({ loss, mu, b, seed, rows }) {
    const y = [1, -1], problem = new Problem({ X: rows, y, loss, set: SETS.ridge(mu, 4) }), best = new Run(problem, { kind: "exact", batch: 2 });
    for (let k = 0; k < 400; k++) best.step();
    const runs = Object.fromEntries(Object.keys(LOOKS).map((name) => {
      const run = new Run(problem, { kind: { conjugate: "linear", Euclidean: "euclidean", exact: "exact" }[name], batch: b, seed });
      return [name, Object.assign(record(run, STEPS, () => ({ s: run.s.slice(), w: run.w.slice(), gap: run.i ? run.gap() : NaN, batch: run.rows })), { kappas: run.kappas })];
    }));
    return Object.assign(span(STEPS + 1), { problem, runs, best });
  },
  show({ problem, runs, best }, t, { rows, loss, mu, b }) {
    const { loss: l, y, reach, gammas } = problem, ends = [0, 1].map((j) => [l.slope(-reach[j], y[j]), l.slope(reach[j], y[j])]), sides = ends.map(([low, high]) => span(34, low, high));
    const every = Object.keys(LOOKS), known = sides.map((side, j) => new Map(side.map((w) => [w, l.conjugate(w, y[j])])));
    const dual = (u, v) => { const d = problem.gradient([u, v]), atom = problem.set.argmin(d); return dot(d, atom) + problem.set.penalty(atom) - (known[0].get(u) + known[1].get(v)) / 2; };
    const top = best.dual(), current = runs.conjugate[t].s[0], from = l.slope(current, y[0]), side = span(120, ...ends[0]);
    const bregman = (w) => l.conjugate(w, y[0]) + l.value(current, y[0]) - current * w, square = (w) => (w - from) ** 2 / 2;
    const distance = { conjugate: bregman, Euclidean: (w) => square(w) / gammas[0], exact: (w) => bregman(w) + runs.exact.kappas[0] * square(w) };
    const curve = (name, points, word = "") => line(word, LOOKS[name][0], points, { dash: LOOKS[name][1] }), past = (name) => runs[name].slice(0, t + 1).map(({ w }) => [w[0], w[1]]);
    const gaps = (name) => runs[name].map(({ gap }) => gap), fall = logAxis("gap of the averages", ...every.map(gaps)), point = SETS.l2(1).reach;
    const extent = 1.1 * Math.max(2.2, ...rows.map(point)), batches = runs.conjugate.slice(1).map(({ batch }) => batch);
    return {
      panels: [
        { x: axis("first entry of x", -extent, extent), y: axis("second entry of x", -extent, extent), equal: true, marks: [line("", GREY, [[-9, 0], [9, 0]], { width: 1 }), line("", GREY, [[0, -9], [0, 9]], { width: 1 })],
          handles: rows.map((at, j) => ({ at, name: `x${"₁₂"[j]}`, colour: PURPLE, move: (u, v) => { rows[j] = [u, v]; } })) },
        { x: axis("w₁", ...ends[0]), y: axis("w₂", ...ends[1]), marks: [
          levels((u, v) => top - dual(u, v), sides, GREY), dots("optimum w*", BLACK, [[best.w[0], best.w[1]]], "star"),
          ...every.flatMap((name) => [curve(name, past(name), `${name} h`), dots("", LOOKS[name][0], past(name).slice(-1))]),
        ] },
        { x: axis("w₁", ...ends[0]), y: axis("distance from the current w₁", -0.05, CEILING), marks: [...every.map((name) => curve(name, side.map((w) => [w, distance[name](w)]))), dots("w₁ of the conjugate run", BLACK, [[from, 0]])] },
        { x: axis("steps", 0, STEPS, { whole: true }), y: fall, marks: [...every.map((name) => curve(name, pairs(span(STEPS + 1), gaps(name)))), line("", GREY, [[t, fall.low], [t, fall.high]], { width: 1.5, dash: "2 3" })] },
      ],
      numbers: [...every.map((name) => (t ? runs[name][t].gap : "–")), ...every.map((name) => runs[name][t].w[0])],
      label: `step ${t}`,
      program: { X: rows, loss, mu, b, batches },
    };
  },
});
