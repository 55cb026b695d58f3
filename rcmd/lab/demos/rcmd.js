"use strict";
// Randomized coordinate mirror descent (Algorithm 2) in the state s, for small problems: losses by
// formula, sets by their linear minimization, three prox functions. Tests hold it to rcmd's own engine.

// ---- formulas: read into functions that give value, slope and second derivative; nothing runs as code ----

const expit = (u) => 1 / (1 + Math.exp(-u));
const FUNCTIONS = {
  exp: (u) => Array(3).fill(Math.exp(u)),
  log: (u) => [Math.log(u), 1 / u, -1 / u ** 2],
  log1p: (u) => [Math.log1p(u), 1 / (1 + u), -1 / (1 + u) ** 2],
  sqrt: (u) => [Math.sqrt(u), 1 / (2 * Math.sqrt(u)), -1 / (4 * u ** 1.5)],
  cosh: (u) => [Math.cosh(u), Math.sinh(u), Math.cosh(u)],
  tanh: (u) => [Math.tanh(u), Math.cosh(u) ** -2, -2 * Math.tanh(u) * Math.cosh(u) ** -2],
  atan: (u) => [Math.atan(u), 1 / (1 + u * u), (-2 * u) / (1 + u * u) ** 2],
  asinh: (u) => [Math.asinh(u), 1 / Math.hypot(1, u), -u / Math.hypot(1, u) ** 3],
  softplus: (u) => [Math.max(u, 0) + Math.log1p(Math.exp(-Math.abs(u))), expit(u), expit(u) * expit(-u)],
  logcosh: (u) => [Math.abs(u) + Math.log1p(Math.exp(-2 * Math.abs(u))) - Math.LN2, Math.tanh(u), Math.cosh(u) ** -2],
};
const power = (u, c) => [u ** c, c && c * u ** (c - 1), c && c !== 1 && c * (c - 1) * u ** (c - 2)].map(Number);

// In terms of [value, slope, second derivative] in the first variable.
const chain = ([f, df, ddf], [, d, dd]) => [f, df * d, ddf * d * d + df * dd];
const OPERATIONS = {
  "+": (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  "-": (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  "*": (a, b) => [a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]],
  "/": (a, b, v = a[0] / b[0], d = (a[1] - v * b[1]) / b[0]) => [v, d, (a[2] - 2 * d * b[1] - v * b[2]) / b[0]],
};

// formula("(s - y)**2/2", ["s", "y"])(3, 1) is [2, 2, 1].
function formula(text, names) {
  const words = text.match(/(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|\*\*|\w+|\S/gi) ?? [];
  let at = 0;
  const fail = (what) => { throw new Error(`${what}; expected a formula in ${names.join(", ")}`); };
  const take = (...wanted) => (wanted.includes(words[at]) ? words[at++] : null);
  const chained = (part, ...signs) => () => {
    let left = part();
    for (let sign = take(...signs); sign; sign = take(...signs)) {
      const [of, a, b] = [OPERATIONS[sign], left, part()];
      left = (known) => of(a(known), b(known));
    }
    return left;
  };
  const sum = chained(() => product(), "+", "-"), product = chained(() => signed(), "*", "/");
  function signed() {
    if (take("+")) return signed();
    const minus = take("-"), part = minus ? signed() : raised();
    return minus ? (known) => part(known).map((value) => -value) : part;
  }
  function raised() {
    const base = atom(), exponent = take("**") && signed();
    return exponent ? (known) => { const u = base(known); return chain(power(u[0], exponent(known)[0]), u); } : base;
  }
  function atom() {
    const word = words[at++] ?? fail("the formula ends too early");
    if (word === "pi" || /^[\d.]/.test(word)) {
      const number = word === "pi" ? Math.PI : Number(word);
      return Number.isFinite(number) ? () => [number, 0, 0] : fail(`“${word}” is no number`);
    }
    const place = names.indexOf(word), of = Object.hasOwn(FUNCTIONS, word) ? FUNCTIONS[word] : null;
    if (place >= 0) return (known) => [known[place], place ? 0 : 1, 0];
    if (word !== "(" && !of) fail(`“${word}” is not known`);
    if (of) take("(") ?? fail(`“${word}” needs its “(”`);
    const inner = sum();
    take(")") ?? fail(words[at] ? `“${words[at]}” stands where “)” should` : "“)” is missing");
    return of ? (known) => { const u = inner(known); return chain(of(u[0]), u); } : inner;
  }
  const whole = sum();
  if (at < words.length) fail(`“${words[at]}” was not expected`);
  return (...known) => whole(known);
}

// ---- losses ----

class Loss {
  constructor(text) { this.text = text; this.jet = formula(text, ["s", "y"]); }
  value(s, y) { return this.jet(s, y)[0]; }
  slope(s, y) { return this.jet(s, y)[1]; }
  bend(s, y) { return this.jet(s, y)[2]; }

  // The largest l'' on [−reach, reach], sampled and then refined; refuses what is not convex there.
  gamma(y, reach) {
    const h = reach / 100;
    let at = 0;
    for (let s = -reach, k = 0; k <= 200; s = -reach + ++k * h) {
      const bend = this.bend(s, y), wanted = bend >= -1e-9 ? "" : bend < 0 ? "convex" : "smooth";
      if (wanted || bend === Infinity) throw new Error(`l'' is ${bend.toPrecision(3)} at s = ${s.toPrecision(3)}, y = ${y}; expected a ${wanted || "smooth"} loss`);
      if (bend > this.bend(at, y)) at = s;
    }
    for (let width = h; width > 1e-9 * reach; width /= 2) {
      for (const s of [at - width / 2, at + width / 2]) if (Math.abs(s) <= reach && this.bend(s, y) > this.bend(at, y)) at = s;
    }
    return Math.max(this.bend(at, y), 1e-12);
  }

  // The s with l'(s) = w, from a guess: Newton's steps inside a bracket.
  answer(w, y, s) {
    const f = (u) => this.slope(u, y) - w;
    let low = s, high = s;
    for (let width = 1e-3; f(low) > 0 && width < 600; width *= 4) low = s - width;
    for (let width = 1e-3; f(high) < 0 && width < 600; width *= 4) high = s + width;
    for (let k = 0; k < 200; k++) {
      const rest = f(s);
      if (rest === 0) break;
      if (rest > 0) high = s; else low = s;
      let next = s - rest / this.bend(s, y);
      if (!(next > low && next < high)) next = (low + high) / 2;
      if (next === s || next === low || next === high) break;
      s = next;
    }
    return s;
  }

  conjugate(w, y, guess = 0) { const s = this.answer(w, y, guess); return w * s - this.value(s, y); }
}

// ---- vectors, and sets by their minimizers of ⟨d, β⟩ + R(β) ----

const dot = (u, v) => { let sum = 0; for (let k = 0; k < u.length; k++) sum += u[k] * v[k]; return sum; };
const norm = (u) => Math.sqrt(dot(u, u));
const scaled = (c, u) => u.map((value) => c * value);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const leader = (values) => values.reduce((best, value, k) => (value > values[best] ? k : best), 0);

// The leading eigenvector of a symmetric matrix ≥ 0: its powers tend to a multiple of v vᵀ.
function leading(matrix) {
  let power = matrix;
  for (let k = 0; k < 40; k++) {
    const size = power.reduce((sum, row, j) => sum + row[j], 0) || 1, even = power.map((row) => scaled(1 / size, row));
    power = even.map((row) => even.map((other) => dot(row, other)));
    if (power.reduce((sum, row, j) => sum + row[j], 0) > 1 - 1e-15) break;
  }
  const column = power[leader(power.map((row, j) => row[j]))];
  return scaled(1 / (norm(column) || 1), column);
}

const gram = (rows) => rows.map((row) => rows.map((other) => dot(row, other)));
const ball = (argmin) => ({
  mu: 0, argmin, penalty: () => 0,
  reach: (x) => Math.max(-dot(x, argmin(x)), dot(x, argmin(scaled(-1, x)))),
});
const SETS = {
  l1: (radius) => ball((d, best = leader(d.map(Math.abs))) => d.map((value, k) => (k === best ? -radius * Math.sign(value) : 0))),
  l2: (radius) => ball((d) => scaled(-radius / (norm(d) || 1), d)),
  hull: (corners) => ball((d) => corners[leader(corners.map((corner) => -dot(corner, d)))]),
  ridge: (mu, radius) => ({
    mu,
    argmin: (d) => scaled(-1 / Math.max(mu, norm(d) / radius), d),
    penalty: (beta) => (mu / 2) * dot(beta, beta),
    reach: (x) => radius * norm(x),
  }),
};

// ---- the problem, its constants, its bounds ----

class Problem {
  // Rows are vectors, or numbers of the one entry that they read.
  constructor({ X, y, loss, set, p = X[0].length }) {
    Object.assign(this, { X, y, set, p, n: X.length, loss: typeof loss === "string" ? new Loss(loss) : loss });
    this.entries = typeof X[0] === "number";
    this.reach = this.entries ? Array(this.n).fill(set.reach(Float64Array.of(1, ...Array(p - 1).fill(0)))) : X.map((x) => set.reach(x));
    this.gammas = y.map((label, j) => this.loss.gamma(label, Math.max(this.reach[j], 1e-9)));
    this.energy = mean(this.gammas.map((gamma, j) => gamma * this.reach[j] ** 2));
  }

  predict(j, beta) { return this.entries ? beta[this.X[j]] : dot(this.X[j], beta); }
  add(j, amount, d) {
    if (this.entries) d[this.X[j]] += amount;
    else for (let k = 0; k < d.length; k++) d[k] += amount * this.X[j][k];
  }

  gradient(w) {
    return w.reduce((d, value, j) => (this.add(j, value / this.n, d), d), new Float64Array(this.p));
  }

  answers(beta) { return this.y.map((y, j) => this.loss.slope(this.predict(j, beta), y)); }
  primal(beta) { return mean(this.y.map((y, j) => this.loss.value(this.predict(j, beta), y))) + this.set.penalty(beta); }

  // D(w); s may hold guesses of the predictions that answer with w.
  dual(w, s) {
    const d = this.gradient(w), atom = this.set.argmin(d);
    return dot(d, atom) + this.set.penalty(atom) - mean(this.y.map((y, j) => this.loss.conjugate(w[j], y, s?.[j])));
  }

  // σ of single rows, and σ_b.
  sigmas(batch) {
    const rows = this.X.map((x, j) => scaled(Math.sqrt(this.gammas[j]), x)), squares = rows.map((row) => dot(row, row));
    const columns = Array.from({ length: this.p }, (_, k) => rows.map((row) => row[k]));
    const top = leading(gram(columns)), spectral = dot(top, gram(columns).map((row) => dot(row, top)));
    const share = batch === 1 ? 0 : (batch - 1) / (this.n - 1), largest = Math.max(...squares), unit = this.n * this.set.mu;
    const sigma = 1 + ((1 - share) * largest + share * spectral) / unit;
    const kappas = this.X.map((x, j) => ((1 - share) * dot(x, x) + (share * spectral) / this.gammas[j]) / unit);
    return { printed: 1 + largest / unit, sigma, kappas };
  }
}

// Bounds after t steps, by the names of rcmd.model.bounds, with V = E/2.
const BOUNDS = {
  "sublinear-energy": ({ N, E }, t) => (8 * N * E) / (4 * N + t - 1) + (N * (2 * N - 1) * E) / ((4 * N + t - 1) * t),
  "linear-quadratic": ({ E, decay }, t) => (E / 2) * decay(t),
  "linear-energy": ({ N, E, sigma, decay }, t) => {
    const between = N > 1 && N < 2 ? ((N - 1) * (2 - N)) / (N * sigma - 1) : 0;
    const noise = Math.sqrt((1 + 1 / sigma) * decay(t)) + Math.sqrt((N - 1) / (N * (sigma - 1)));
    return (E / 2) * Math.min((N * sigma + between) * decay(t), noise ** 2, 4);
  },
  "exact-start": ({ E, decay, start }, t) => Math.min(start * decay(t), 2 * E),
};

// ---- draws, and the run ----

// Numbers in (0, 1), by Lehmer's generator: the same for the same seed everywhere.
function random(seed) {
  let x = 1 + ((seed * 69621 + 12345) % 2147483646);
  const next = () => { x = (x * 48271) % 2147483647; return x / 2147483647; };
  for (let k = 0; k < 5; k++) next();
  return next;
}

// A uniform batch without replacement, by Floyd's method.
function subset(next, n, size) {
  const taken = [];
  for (let last = n - size; last < n; last++) {
    const row = Math.floor(next() * (last + 1));
    taken.push(taken.includes(row) ? last : row);
  }
  return taken;
}

class Run {
  // kind: "sublinear" (Theorem 3.1), "linear" (3.2), "exact" (Theorem I), "euclidean"; own: a formula for η.
  constructor(problem, { kind, batch = 1, seed = 0, batches = null, own = null, sigma = null }) {
    const { n, p, y, loss } = problem, N = n / batch;
    Object.assign(this, { problem, kind, batch, batches, N, i: 0, next: random(seed), linear: problem.set.mu > 0 && kind !== "sublinear" && kind !== "euclidean" });
    const constants = problem.set.mu > 0 ? problem.sigmas(batch) : { sigma: 1 }, w = Float64Array.from(y, (label) => loss.slope(0, label));
    Object.assign(this, { sigma: sigma ?? constants.sigma, kappas: constants.kappas, own: own && formula(own, ["i", "N", "n", "b", "sigma"]) });
    Object.assign(this, { s: new Float64Array(n), w, wAverage: w.slice(), d: problem.gradient(w), beta: new Float64Array(p) });
    const atom = problem.set.argmin(this.d), decay = (t) => { const x = -t * Math.log1p(-1 / (N * this.sigma)); return Math.exp(-x) / -Math.expm1(-x); };
    this.facts = { N, E: problem.energy, sigma: this.sigma, decay, start: problem.primal(atom) - problem.dual(this.w, this.s) };
  }

  eta() {
    const { i, N, kind, problem } = this;
    if (!this.own) return kind === "exact" ? 1 : this.linear ? 1 / this.sigma : (2 * N) / (2 * N + i + 1);
    const eta = this.own(i, N, problem.n, this.batch, this.sigma)[0];
    if (!(eta >= 0 && eta <= 1)) throw new Error(`your step is ${eta} at i = ${i}; expected numbers from 0 to 1`);
    return eta;
  }

  alpha() {
    const { i, N } = this, share = 1 / (N * this.sigma);
    return this.linear ? share / -Math.expm1((i + 1) * Math.log1p(-share)) : (2 * (2 * N + i)) / ((i + 1) * (4 * N + i));
  }

  // Where s_j goes, a being the row's prediction at the atom.
  moved(j, a, eta) {
    const { problem: { loss, y, reach, gammas }, s, w, kind } = this;
    if (kind === "exact") return this.root(j, a);
    if (kind !== "euclidean") return s[j] + eta * (a - s[j]);
    const target = w[j] + gammas[j] * eta * (a - s[j]), M = reach[j]; // projected onto the answers to [−M, M]
    if (target >= loss.slope(M, y[j])) return M;
    return target <= loss.slope(-M, y[j]) ? -M : loss.answer(target, y[j], s[j]);
  }

  // Between s_j and a: s + κ_j l'(s) = a + κ_j w_j.
  root(j, a) {
    const { problem: { loss, y }, s, w } = this, kappa = this.kappas[j];
    let low = Math.min(s[j], a), high = Math.max(s[j], a), u = s[j] + (a - s[j]) / (1 + kappa * loss.bend(s[j], y[j]));
    for (let k = 0; k < 100; k++) {
      const rest = u - a + kappa * (loss.slope(u, y[j]) - w[j]);
      if (rest > 0) high = u; else low = u;
      let next = u - rest / (1 + kappa * loss.bend(u, y[j]));
      if (!(next >= low && next <= high)) next = (low + high) / 2;
      if (Math.abs(next - u) <= 2e-16 * Math.abs(u)) return next;
      u = next;
    }
    return u;
  }

  step() {
    const { problem, s, w, d, beta, wAverage } = this, { n, y, loss } = problem, eta = this.eta(), alpha = this.alpha();
    const atom = this.atom = problem.set.argmin(d);
    const rows = this.rows = this.batches ? this.batches[this.i] : subset(this.next, n, this.batch);
    for (let j = 0; j < n; j++) wAverage[j] += alpha * (w[j] - wAverage[j]);
    for (let k = 0; k < beta.length; k++) beta[k] += alpha * (atom[k] - beta[k]);
    for (const [j, to] of rows.map((j) => [j, this.moved(j, problem.predict(j, atom), eta)])) {
      const after = loss.slope(to, y[j]);
      problem.add(j, (after - w[j]) / n, d);
      [s[j], w[j]] = [to, after];
    }
    this.i += 1;
  }

  primal() { return this.problem.primal(this.beta); }
  dual() { // of the w that the theorem speaks about
    return this.linear ? this.problem.dual(this.w, this.s) : this.problem.dual(this.wAverage, this.s);
  }
  gap() { return this.primal() - this.dual(); }
  bound(name) { return BOUNDS[name](this.facts, this.i); }
}
