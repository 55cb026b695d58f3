"use strict";
// Formulas read into functions that give value, slope and second derivative; nothing runs as code.

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
  softplus: (u) => [
    Math.max(u, 0) + Math.log1p(Math.exp(-Math.abs(u))), expit(u), expit(u) * expit(-u),
  ],
  logcosh: (u) => [
    Math.abs(u) + Math.log1p(Math.exp(-2 * Math.abs(u))) - Math.LN2,
    Math.tanh(u),
    Math.cosh(u) ** -2,
  ],
};
const power = (u, c) =>
  [u ** c, c && c * u ** (c - 1), c && c !== 1 && c * (c - 1) * u ** (c - 2)].map(Number);

// In terms of [value, slope, second derivative] in the first variable.
const chain = ([f, df, ddf], [, d, dd]) => [f, df * d, ddf * d * d + df * dd];
const OPERATIONS = {
  "+": (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  "-": (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  "*": (a, b) => [
    a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2],
  ],
  "/": (a, b) => {
    const v = a[0] / b[0], d = (a[1] - v * b[1]) / b[0];
    return [v, d, (a[2] - 2 * d * b[1] - v * b[2]) / b[0]];
  },
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
    if (!exponent) return base;
    return (known) => { const u = base(known); return chain(power(u[0], exponent(known)[0]), u); };
  }
  function atom() {
    const word = words[at++] ?? fail("the formula ends too early");
    if (word === "pi" || /^[\d.]/.test(word)) {
      const number = word === "pi" ? Math.PI : Number(word);
      return Number.isFinite(number) ? () => [number, 0, 0] : fail(`“${word}” is no number`);
    }
    const place = names.indexOf(word);
    const of = Object.hasOwn(FUNCTIONS, word) ? FUNCTIONS[word] : null;
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
