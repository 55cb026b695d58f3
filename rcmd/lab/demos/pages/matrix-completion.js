const STEPS = 80, LETTERS = ["####..####.##...##.####.", "#...#.#....#.#.#.#.#...#", "####..#....#..#..#.#...#", "#..#..#....#.....#.#...#", "#...#.####.#.....#.####."];
const TALL = 4, WIDE = 2, ROWS = LETTERS.length + 2, COLUMNS = LETTERS[0].length + 2, HEIGHT = ROWS * TALL, WIDTH = COLUMNS * WIDE;

// Matrices of this shape and nuclear norm: the best atom has the leading singular vectors of d.
SETS.nuclear = (height, width, radius) => ball((d) => {
  const rows = span(height).map((r) => Array.from(d.slice(r * width, (r + 1) * width))), u = leading(gram(rows));
  const v = span(width).map((c) => rows.reduce((sum, row, r) => sum + u[r] * row[c], 0)), size = norm(v) || 1;
  return Float64Array.from({ length: d.length }, (_, k) => (-radius * u[Math.floor(k / width)] * v[k % width]) / size);
});

live({
  layout: { columns: 2, height: "12.6rem" },
  controls: [range("share", "Pixels seen, %", 10, 90, 30, 5), range("size", "Radius, % of the picture's norm", 20, 150, 100, 10), seed()],
  state: { bitmap: span(ROWS).map((r) => span(COLUMNS).map((c) => +(LETTERS[r - 1]?.[c - 1] === "#"))), pen: [1, 1] },
  run({ share, size, seed, bitmap }) {
    const next = random(seed), picture = span(HEIGHT).map((r) => span(WIDTH).map((c) => bitmap[Math.floor(r / TALL)][Math.floor(c / WIDE)] + +((0.3 * r * c) / ((HEIGHT - 1) * (WIDTH - 1))).toFixed(3)));
    const seen = picture.map((row) => row.map(() => next() < share / 100)), X = [], y = [];
    seen.forEach((row, r) => row.forEach((is, c) => { if (is) { X.push(r * WIDTH + c); y.push(picture[r][c]); } }));
    const radius = (size / 100) * nuclearNorm(picture), problem = new Problem({ X, y, loss: "(s - y)**2/2", set: SETS.nuclear(HEIGHT, WIDTH, radius), p: HEIGHT * WIDTH });
    const run = new Run(problem, { kind: "sublinear", batch: X.length, batches: { ...Array(STEPS).fill(span(X.length)) } });
    const error = (where) => Math.sqrt(mean(picture.flatMap((row, r) => row.flatMap((value, c) => (where(r, c) ? (run.beta[r * WIDTH + c] - value) ** 2 : [])))));
    const frames = record(run, STEPS, () => (run.i ? {
      beta: run.beta.slice(), hidden: error((r, c) => !seen[r][c]), known: error((r, c) => seen[r][c]), gap: run.gap(), bound: run.bound("sublinear-energy"),
    } : null)).slice(1);
    return Object.assign(frames, { picture, seen, radius });
  },
  show(frames, t, state) {
    const { picture, seen, radius, ...all } = frames, list = Object.values(all), now = frames[t], steps = span(list.length, 1, list.length), { pen, bitmap } = state;
    const image = (rows, handles = []) => ({ x: axis("", 0, WIDTH), y: axis("", 0, HEIGHT), equal: true, marks: [tiles(rows.map((row) => Array.from(row)).reverse())], handles });
    const curve = (name, colour, of, dash) => line(name, colour, pairs(steps, list.map(of)), { dash }), y = logAxis("error, gap", ...["hidden", "known", "gap"].map((name) => list.map((one) => one[name])));
    const grip = { at: [(pen[0] + 0.5) * WIDE, HEIGHT - (pen[1] + 0.5) * TALL], name: "pen", colour: VERMILION, move(u, v) {
      const to = [Math.min(Math.floor(u / WIDE), COLUMNS - 1), Math.min(Math.floor((HEIGHT - v) / TALL), ROWS - 1)];
      if (to.join() !== pen.join()) bitmap[to[1]][to[0]] = 1 - bitmap[to[1]][to[0]];
      state.pen = to;
    }, step: [WIDE, TALL] };
    return {
      panels: [
        image(picture, [grip]), image(picture.map((row, r) => row.map((value, c) => (seen[r][c] ? value : NaN)))), image(span(HEIGHT).map((r) => now.beta.slice(r * WIDTH, (r + 1) * WIDTH))),
        { x: axis("steps", 0, list.length, { whole: true }), y, marks: [curve("error, hidden pixels", VERMILION, (one) => one.hidden), curve("error, seen pixels", BLUE, (one) => one.known, "7 4"), curve("gap of the averages", GREEN, (one) => one.gap, "2 3"), line("", GREY, [[t + 1, y.low], [t + 1, y.high]], { width: 1.5, dash: "2 3" })] },
      ],
      numbers: [String(t + 1), now.hidden, now.known, now.gap, now.bound],
      label: `${t + 1} steps`,
      program: { bitmap: bitmap.map((row) => row.map((ink) => (ink ? "#" : ".")).join("")), seen: seen.map((row) => row.map((is) => (is ? "x" : ".")).join("")), radius: String(radius), steps: String(t + 1) },
    };
  },
});

// The sum of the singular values, each found and taken away.
function nuclearNorm(matrix) {
  let rest = matrix.map((row) => row.slice()), sum = 0;
  for (let k = 0; k < HEIGHT; k++) {
    const u = leading(gram(rest)), v = rest[0].map((_, c) => rest.reduce((total, row, r) => total + u[r] * row[c], 0));
    if (norm(v) < 1e-9) break;
    sum += norm(v);
    rest = rest.map((row, r) => row.map((value, c) => value - u[r] * v[c]));
  }
  return sum;
}
