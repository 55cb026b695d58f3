// Randomized coordinate mirror descent (Algorithm 2) in the state s, for small problems: losses by
// formula, sets by their linear minimization, three prox functions. Tests hold it to rcmd's own
// engine.

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
      if (wanted || bend === Infinity) {
        const place = `s = ${s.toPrecision(3)}, y = ${y}`;
        const what = `l'' is ${bend.toPrecision(3)} at ${place}`;
        throw new Error(`${what}; expected a ${wanted || "smooth"} loss`);
      }
      if (bend > this.bend(at, y)) at = s;
    }
    for (let width = h; width > 1e-9 * reach; width /= 2) {
      for (const s of [at - width / 2, at + width / 2]) {
        if (Math.abs(s) <= reach && this.bend(s, y) > this.bend(at, y)) at = s;
      }
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

  conjugate(w, y, guess = 0) {
    const s = this.answer(w, y, guess);
    return w * s - this.value(s, y);
  }
}

// ---- vectors, and sets by their minimizers of ⟨d, β⟩ + R(β) ----

function dot(u, v) {
  let sum = 0;
  for (let k = 0; k < u.length; k++) sum += u[k] * v[k];
  return sum;
}
const norm = (u) => Math.sqrt(dot(u, u));
const scaled = (c, u) => u.map((value) => c * value);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const leader = (values) => values.reduce((best, value, k) => (value > values[best] ? k : best), 0);
const trace = (matrix) => matrix.reduce((sum, row, j) => sum + row[j], 0);

// The leading eigenvector of a symmetric matrix ≥ 0: its powers tend to a multiple of v vᵀ.
function leading(matrix) {
  let power = matrix;
  for (let k = 0; k < 40; k++) {
    const size = trace(power) || 1, even = power.map((row) => scaled(1 / size, row));
    power = gram(even);
    if (trace(power) > 1 - 1e-15) break;
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
  l1: (radius) => ball((d) => {
    const best = leader(d.map(Math.abs));
    return d.map((value, k) => (k === best ? -radius * Math.sign(value) : 0));
  }),
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
    Object.assign(this, { X, y, set, p, n: X.length });
    this.loss = typeof loss === "string" ? new Loss(loss) : loss;
    this.entries = typeof X[0] === "number";
    const unit = Float64Array.of(1, ...Array(p - 1).fill(0));
    this.reach = X.map((x) => set.reach(this.entries ? unit : x));
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
  primal(beta) {
    const losses = this.y.map((y, j) => this.loss.value(this.predict(j, beta), y));
    return mean(losses) + this.set.penalty(beta);
  }

  // D(w); s may hold guesses of the predictions that answer with w.
  dual(w, s) {
    const d = this.gradient(w), atom = this.set.argmin(d);
    const conjugates = this.y.map((y, j) => this.loss.conjugate(w[j], y, s?.[j]));
    return dot(d, atom) + this.set.penalty(atom) - mean(conjugates);
  }

  // σ of single rows, and σ_b.
  sigmas(batch) {
    const rows = this.X.map((x, j) => scaled(Math.sqrt(this.gammas[j]), x));
    const columns = Array.from({ length: this.p }, (_, k) => rows.map((row) => row[k]));
    const products = gram(columns), top = leading(products);
    const spectral = dot(top, products.map((row) => dot(row, top)));
    const largest = Math.max(...rows.map((row) => dot(row, row))), unit = this.n * this.set.mu;
    const share = batch === 1 ? 0 : (batch - 1) / (this.n - 1);
    const sigma = 1 + ((1 - share) * largest + share * spectral) / unit;
    const kappas = this.X.map(
      (x, j) => ((1 - share) * dot(x, x) + (share * spectral) / this.gammas[j]) / unit,
    );
    return { printed: 1 + largest / unit, sigma, kappas };
  }
}

// Bounds after t steps, by the names of rcmd.model.bounds, with V = E/2.
const BOUNDS = {
  "sublinear-energy": ({ N, E }, t) =>
    (8 * N * E) / (4 * N + t - 1) + (N * (2 * N - 1) * E) / ((4 * N + t - 1) * t),
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
  // kind: "sublinear" (Theorem 3.1), "linear" (3.2), "exact" (Theorem I), "euclidean"; own: a
  // formula for η.
  constructor(problem, { kind, batch = 1, seed = 0, batches = null, own = null, sigma = null }) {
    const { n, p, y, loss } = problem, N = n / batch;
    Object.assign(this, { problem, kind, batch, batches, N, i: 0, next: random(seed) });
    this.linear = problem.set.mu > 0 && kind !== "sublinear" && kind !== "euclidean";
    const constants = problem.set.mu > 0 ? problem.sigmas(batch) : { sigma: 1 };
    Object.assign(this, { sigma: sigma ?? constants.sigma, kappas: constants.kappas });
    this.own = own && formula(own, ["i", "N", "n", "b", "sigma"]);
    const s = new Float64Array(n), w = Float64Array.from(y, (label) => loss.slope(0, label));
    const d = problem.gradient(w), atom = problem.set.argmin(d);
    const start = problem.primal(atom) - problem.dual(w, s);
    Object.assign(this, { s, w, wAverage: w.slice(), d, beta: new Float64Array(p) });
    const decay = (t) => {
      const x = -t * Math.log1p(-1 / (N * this.sigma));
      return Math.exp(-x) / -Math.expm1(-x);
    };
    this.facts = { N, E: problem.energy, sigma: this.sigma, decay, start };
  }

  eta() {
    const { i, N, kind, problem } = this;
    if (this.own) {
      const eta = this.own(i, N, problem.n, this.batch, this.sigma)[0];
      if (eta >= 0 && eta <= 1) return eta;
      throw new Error(`your step is ${eta} at i = ${i}; expected numbers from 0 to 1`);
    }
    if (kind === "exact") return 1;
    return this.linear ? 1 / this.sigma : (2 * N) / (2 * N + i + 1);
  }

  alpha() {
    const { i, N } = this, share = 1 / (N * this.sigma);
    if (this.linear) return share / -Math.expm1((i + 1) * Math.log1p(-share));
    return (2 * (2 * N + i)) / ((i + 1) * (4 * N + i));
  }

  // Where s_j goes, a being the row's prediction at the atom.
  moved(j, a, eta) {
    const { problem: { loss, y, reach, gammas }, s, w, kind } = this;
    if (kind === "exact") return this.root(j, a);
    if (kind !== "euclidean") return s[j] + eta * (a - s[j]);
    // Projected onto the answers to [−M, M].
    const target = w[j] + gammas[j] * eta * (a - s[j]), M = reach[j];
    if (target >= loss.slope(M, y[j])) return M;
    return target <= loss.slope(-M, y[j]) ? -M : loss.answer(target, y[j], s[j]);
  }

  // Between s_j and a: s + κ_j l'(s) = a + κ_j w_j.
  root(j, a) {
    const { problem: { loss, y }, s, w } = this, kappa = this.kappas[j];
    let low = Math.min(s[j], a), high = Math.max(s[j], a);
    let u = s[j] + (a - s[j]) / (1 + kappa * loss.bend(s[j], y[j]));
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
    const { problem, s, w, d, beta, wAverage } = this, { n, y, loss } = problem;
    const eta = this.eta(), alpha = this.alpha(), atom = this.atom = problem.set.argmin(d);
    this.rows = this.batches ? this.batches[this.i] : subset(this.next, n, this.batch);
    for (let j = 0; j < n; j++) wAverage[j] += alpha * (w[j] - wAverage[j]);
    for (let k = 0; k < beta.length; k++) beta[k] += alpha * (atom[k] - beta[k]);
    const moves = this.rows.map((j) => [j, this.moved(j, problem.predict(j, atom), eta)]);
    for (const [j, to] of moves) {
      const after = loss.slope(to, y[j]);
      problem.add(j, (after - w[j]) / n, d);
      [s[j], w[j]] = [to, after];
    }
    this.i += 1;
  }

  primal() { return this.problem.primal(this.beta); }
  // Of the w that the theorem speaks about.
  dual() { return this.problem.dual(this.linear ? this.w : this.wAverage, this.s); }
  gap() { return this.primal() - this.dual(); }
  bound(name) { return BOUNDS[name](this.facts, this.i); }
}
