const REACH = 4, LABEL = 1, PASSES = 60, WIDTH = 6, RADIUS = 1;

live({
  controls: [words("loss", "Loss l(s; y) =", "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2"), range("n", "Rows n", 20, 200, 100, 10), range("b", "Batch b", 1, 100, 5), seed()],
  limits({ n }, { b }) { b.max = n; read(); },
  start: 60,
  run({ loss, n, b, seed }) {
    const next = random(seed), X = span(n).map(() => span(WIDTH).map(() => +normal(next).toFixed(2))), y = X.map((x) => (x[0] + x[1] + x[2] + normal(next) > 0 ? 1 : -1));
    const problem = new Problem({ X, y, loss, set: SETS.l1(RADIUS) }), run = new Run(problem, { kind: "sublinear", batch: b, seed: seed + 1 }), steps = Math.round((PASSES * n) / b);
    problem.loss.gamma(LABEL, REACH);
    const seen = [...new Set(span(50, 0, 1).map((share) => Math.round(steps ** share)))].map((time) => {
      while (run.i < time) run.step();
      return [time, run.gap(), run.bound("sublinear-energy")];
    });
    return Object.assign(span(81, -REACH, REACH), { problem, seen });
  },
  show({ problem, seen, ...places }, t, { loss: text, b }) {
    const { loss } = problem, s = places[t], w = loss.slope(s, LABEL), value = loss.value(s, LABEL), conjugate = loss.conjugate(w, LABEL, 0), gamma = Math.max(...problem.gammas);
    const along = span(161, -REACH, REACH), values = along.map((u) => loss.value(u, LABEL)), slopes = along.map((u) => loss.slope(u, LABEL)), [low, high] = [slopes[0], slopes.at(-1)];
    const ws = span(161, low, high), conjugates = ws.map((v) => loss.conjugate(v, LABEL, 0)), depth = 0.15 * (Math.max(...conjugates) - Math.min(...conjugates)), room = 0.15 * (Math.max(...values) - Math.min(...values));
    const steps = seen.map(([time]) => time), gaps = seen.map(([, gap]) => gap), bounds = seen.map(([, , bound]) => bound), tangent = (u, v, slope, [from, to]) => [[from, v + slope * (from - u)], [to, v + slope * (to - u)]];
    const sAxis = axis("prediction s", -REACH, REACH);
    return {
      panels: [
        { x: sAxis, y: axis("loss l", Math.min(0, -Math.max(...conjugates)) - room, Math.max(...values) + room), marks: [line("l(s; 1)", BLUE, pairs(along, values), { width: 2.5 }), line("tangent of slope w", GREY, tangent(s, value, w, [-REACH, REACH]), { dash: "7 4" }), dots("−l*(w)", GREEN, [[0, -conjugate]], "diamond"), dots("(s, l(s))", BLACK, [[s, value]])] },
        { x: sAxis, y: axis("dual variable w = l'(s)", low - 0.05 * (high - low), high + 0.05 * (high - low)), marks: [line("l'(s; 1)", VERMILION, pairs(along, slopes), { width: 2.5 }), line("", GREY, [[s, low - 9], [s, w], [-REACH, w]], { dash: "2 3", width: 1.5 }), dots("w = l'(s)", BLACK, [[s, w]])] },
        { x: axis("dual variable w", low, high), y: axis("conjugate l*", Math.min(...conjugates) - 2 * depth, Math.max(...conjugates) + depth), marks: [line("l*(w; 1)", GREEN, pairs(ws, conjugates), { width: 2.5 }), line("tangent of slope s", GREY, tangent(w, conjugate, s, [low, high]), { dash: "7 4" }), dots("(w, l*(w))", BLACK, [[w, conjugate]])] },
        { x: logAxis("steps", steps), y: logAxis("gap", gaps, bounds), marks: [line("bound for this γ", VERMILION, pairs(steps, bounds), { dash: "7 4" }), line("gap of the averages", BLUE, pairs(steps, gaps), { width: 2.5 })] },
      ],
      numbers: [w, value, conjugate, value + conjugate - w * s, gamma, gaps.at(-1), bounds.at(-1)],
      label: `s = ${number(s)}`,
      program: { X: problem.X, y: problem.y, loss: text, b, s: String(s), steps: String(steps.at(-1)) },
    };
  },
});
