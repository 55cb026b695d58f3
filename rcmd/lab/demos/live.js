"use strict";
// Pictures in SVG, controls, and points to drag; what a page shows is worked out anew at every change.
const [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000"];
const GREY = "#8a8f98";
const span = (count, from = 0, to = count - 1) => Array.from({ length: count }, (_, k) => from + ((to - from) * k) / Math.max(count - 1, 1));
const normal = (next) => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
const pairs = (xs, ys) => Array.from(xs, (x, k) => [x, ys[k]]);

// A number to read: 0.500, −12.0, 1.5·10⁻¹⁶.
function number(value, digits = 3) {
  if (value === 0 || !Number.isFinite(value)) return String(value).replace("-", "−");
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const plain = power >= -3 && power < 5;
  return (plain ? value.toFixed(Math.max(digits - 1 - power, 0)) : mantissa + "·10" + raised(power)).replace("-", "−");
}
const raised = (power) => [...String(+power)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");

// ---- marks: each gives its SVG for a scale of x and one of y, and its picture in the legend ----

const path = (points, X, Y) => points.map(([x, y], k) => (k && Number.isFinite(Y(points[k - 1][1])) ? "L" : "M") + X(x).toFixed(2) + " " + Y(y).toFixed(2))
  .filter((word) => !/NaN|Inf/.test(word)).join("");
const stroke = (colour, width, dash) => `fill="none" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}" stroke-linejoin="round"`;
const line = (name, colour, points, { width = 2, dash = "", fill = "none" } = {}) => ({
  name, swatch: `<path d="M0 1H24V13H0Z" fill="${fill}"/><path d="M0 7H24" ${stroke(colour, width, dash)}/>`,
  svg: (X, Y) => `<path d="${path(points, X, Y)}" ${stroke(colour, width, dash).replace('"none"', `"${fill}"`)}/>`,
});
const SHAPES = {
  dot: (c) => `<circle r="5" fill="${c}" stroke="#fff"/>`,
  ring: (c) => `<circle r="5" fill="none" stroke="${c}" stroke-width="2"/>`,
  diamond: (c) => `<path d="M0-9 9 0 0 9-9 0Z" fill="${c}" stroke="#fff"/>`,
  star: (c) => `<path d="M0-8 2-2.5 8-2.5 3 1 5 7 0 3.4-5 7-3 1-8-2.5-2-2.5Z" fill="${c}"/>`,
  bar: (c) => `<path d="M-6-5H6V5H-6Z" fill="${c}"/>`,
};
const dots = (name, colour, points, shape = "dot") => ({
  name, swatch: `<g transform="translate(12 7)">${SHAPES[shape](colour)}</g>`,
  svg: (X, Y) => points.filter(([, y]) => Number.isFinite(Y(y))).map(([x, y]) => `<g transform="translate(${X(x)} ${Y(y)})">${SHAPES[shape](colour)}</g>`).join(""),
});
const arrow = (name, colour, [from, to]) => ({
  name, swatch: `<path d="M0 7H18" ${stroke(colour, 2.5, "")}/><path d="M24 7 15 2V12Z" fill="${colour}"/>`,
  svg: (X, Y) => {
    const turn = (Math.atan2(Y(to[1]) - Y(from[1]), X(to[0]) - X(from[0])) * 180) / Math.PI;
    return `${line("", colour, [from, to], { width: 2.5 }).svg(X, Y)}<path transform="translate(${X(to[0])} ${Y(to[1])}) rotate(${turn})" d="M4 0-8-5V5Z" fill="${colour}"/>`;
  },
});
// The place-th of so many bars beside each whole number from 1 on.
const bars = (name, colour, values, place, of) => ({
  name, swatch: `<g transform="translate(12 7)">${SHAPES.bar(colour)}</g>`,
  svg: (X, Y) => Array.from(values, (value, k) => {
    const left = X(k + 0.65 + (0.7 * place) / of), right = X(k + 0.65 + (0.7 * (place + 1)) / of), ends = [Y(0), Y(value)];
    return `<rect x="${left}" y="${Math.min(...ends)}" width="${right - left}" height="${Math.abs(ends[0] - ends[1])}" fill="${colour}"/>`;
  }).join(""),
});
// A matrix as a picture; NaN is a hole.
const tiles = (rows) => ({
  svg: (X, Y) => `<g shape-rendering="crispEdges">${rows.map((row, r) => Array.from(row, (value, c) => (Number.isNaN(value) ? "" :
    `<path d="M${X(c)} ${Y(r)}H${X(c + 1)}V${Y(r + 1)}H${X(c)}Z" fill="${shade(value / 1.3)}"/>`)).join("")).join("")}</g>`,
});
const shade = (share) => { const t = Math.min(Math.max(share, 0), 1); return `rgb(${[253 * t, 34 + 199 * t, 78 - 23 * t + 60 * t * (1 - t)].map(Math.round)})`; };
// Level curves of a height ≥ 0, closer near its zeros, by marching squares.
function levels(height, [xs, ys], colour) {
  const z = xs.map((x) => ys.map((y) => Math.sqrt(Math.max(height(x, y), 0)))), top = Math.max(...z.flat().filter(Number.isFinite)), pieces = [];
  for (const level of span(12, top / 14, top)) {
    for (let i = 1; i < xs.length; i++) for (let j = 1; j < ys.length; j++) {
      const around = [[i - 1, j - 1], [i, j - 1], [i, j], [i - 1, j]], cut = [];
      around.forEach(([a, b], k) => {
        const [c, e] = around[(k + 1) % 4], t = (level - z[a][b]) / (z[c][e] - z[a][b]);
        if ((z[a][b] < level) !== (z[c][e] < level)) cut.push([xs[a] + t * (xs[c] - xs[a]), ys[b] + t * (ys[e] - ys[b])]);
      });
      for (let k = 1; k < cut.length; k += 2) pieces.push(cut[k - 1], cut[k], [NaN, NaN]);
    }
  }
  return { svg: (X, Y) => `<path d="${path(pieces, X, Y)}" ${stroke(colour, 1, "")} opacity=".4"/>` };
}

// ---- panels ----

const axis = (label, low, high, more = {}) => ({ label, low, high, ...more });
// A logarithmic axis that shows all positive values, down to a millionth of rounding.
function logAxis(label, ...values) {
  const shown = values.flatMap((one) => Array.from(one)).filter((value) => value > 1e-17 && value < 1e12);
  const low = Math.min(...shown, 1e9), high = Math.max(...shown, low * 10);
  return axis(label, low * (low / high) ** 0.06, high * (high / low) ** 0.06, { log: true });
}
function scale({ low, high, log }, from, to) {
  const f = log ? (v) => (v > 0 ? Math.log10(v) : NaN) : (v) => v, unit = (to - from) / (f(high) - f(low));
  const place = (v) => from + (f(v) - f(low)) * unit;
  place.back = (at) => { const v = f(low) + (at - from) / unit; return log ? 10 ** v : v; };
  return place;
}
function ticks({ low, high, log, whole }) {
  if (log) {
    const first = Math.ceil(Math.log10(low)), last = Math.floor(Math.log10(high)), step = Math.max(Math.ceil((last - first) / 6), 1);
    if (last - first < 1) return [1, 2, 5].flatMap((digit) => [first - 1, first, last + 1].map((power) => digit * 10 ** power))
      .filter((v, k, all) => v >= low && v <= high && all.indexOf(v) === k).map((v) => [v, String(+v.toPrecision(1))]);
    return span(Math.floor((last - first) / step) + 1, first, first + step * Math.floor((last - first) / step)).map((power) => [10 ** power, power === 0 ? "1" : power === 1 ? "10" : "10" + raised(power)]);
  }
  const rough = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(rough)), step = Math.max(unit * [1, 2, 5, 10].find((c) => c * unit >= rough), whole ? 1 : 0);
  return span(Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1, Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)).map((k) => [k * step, String(+(k * step).toPrecision(6)).replace("-", "−")]);
}
function draw(figure, { x, y, marks, handles = [], equal = false }) {
  const plot = figure.querySelector(".plot"), [width, height] = [plot.clientWidth, plot.clientHeight];
  if (width < 120) return; // the window has no size yet
  let box = [58, 8, width - 12, height - 44];
  if (equal) {
    const unit = Math.min((box[2] - box[0]) / (x.high - x.low), (box[3] - box[1]) / (y.high - y.low));
    const side = unit * (x.high - x.low), left = (box[0] + box[2] - side) / 2;
    const up = unit * (y.high - y.low), start = (box[1] + box[3] - up) / 2;
    box = [left, start, left + side, start + up];
  }
  const [left, top, right, bottom] = box, X = scale(x, left, right), Y = scale(y, bottom, top), clip = `clip${[...figures].indexOf(figure)}`;
  const across = ticks(x).map(([v, word]) => `<path d="M${X(v)} ${top}V${bottom + 4}"/><text x="${X(v)}" y="${bottom + 18}" text-anchor="middle">${word}</text>`);
  const up = ticks(y).map(([v, word]) => `<path d="M${left - 4} ${Y(v)}H${right}"/><text x="${left - 7}" y="${Y(v) + 4}" text-anchor="end">${word}</text>`);
  plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
  plot.querySelector(".ink").innerHTML = `<clipPath id="${clip}"><path d="M${left - 1} ${top - 1}H${right + 1}V${bottom + 1}H${left - 1}Z"/></clipPath>
    <g class="grid">${across.join("")}${up.join("")}<path class="frame" d="M${left} ${top}V${bottom}H${right}"/></g>
    <text class="name" x="${(left + right) / 2}" y="${Math.min(bottom + 37, height - 3)}" text-anchor="middle">${x.label}</text>
    <text class="name" text-anchor="middle" transform="translate(${left - 45} ${(top + bottom) / 2}) rotate(-90)">${y.label}</text>
    <g clip-path="url(#${clip})">${marks.map((mark) => mark.svg(X, Y)).join("")}</g>`;
  figure.querySelector(".legend").innerHTML = marks.filter(({ name }) => name).map(({ name, swatch }) => `<li><svg width="24" height="14" aria-hidden="true">${swatch}</svg>${name}</li>`).join("");
  grips(plot, handles, x, y, X, Y);
}

// Points that are dragged, or moved by the arrow keys; they stay the same elements while they move.
function grips(plot, handles, x, y, X, Y) {
  const group = plot.querySelector(".handles"), inside = (v, { low, high }) => Math.min(Math.max(v, Math.min(low, high)), Math.max(low, high));
  while (group.children.length > handles.length) group.lastChild.remove();
  handles.forEach(({ at, name, colour, move, step = [0.02, 0.02].map((share) => share * (x.high - x.low)) }, k) => {
    let grip = group.children[k];
    if (!grip) {
      grip = document.createElementNS("http://www.w3.org/2000/svg", "g");
      grip.innerHTML = "<circle r='14' fill='transparent'/><circle class='knob' r='6'/><text y='-11' text-anchor='middle'></text>";
      for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", class: "grip" })) grip.setAttribute(key, value);
      group.append(grip);
    }
    const put = (u, v) => { move(+inside(u, x).toFixed(3), +inside(v, y).toFixed(3)); update(); };
    grip.setAttribute("transform", `translate(${X(at[0])} ${Y(at[1])})`);
    grip.setAttribute("aria-label", `${name}; the arrow keys move it`);
    grip.setAttribute("aria-valuetext", at.map((v) => number(v)).join(", "));
    grip.setAttribute("aria-valuenow", at[0]);
    grip.children[1].setAttribute("fill", colour);
    grip.children[2].textContent = name;
    grip.onpointerdown = (event) => { grip.setPointerCapture(event.pointerId); event.preventDefault(); grip.focus(); };
    grip.onpointermove = (event) => {
      if (!grip.hasPointerCapture(event.pointerId)) return;
      const frame = plot.getBoundingClientRect();
      put(X.back(event.clientX - frame.left), Y.back(event.clientY - frame.top));
    };
    grip.onkeydown = (event) => {
      const share = event.shiftKey ? 0.1 : 1, by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (by) { event.preventDefault(); put(at[0] + share * step[0] * by[0], at[1] + share * step[1] * by[1]); }
    };
  });
}

// ---- controls ----

const range = (name, label, low, high, value, step = 1) => ({ name, value, html: `<label>${label}
  <input type="range" name="${name}" min="${low}" max="${high}" step="${step}" value="${value}" autocomplete="off"><output>${value}</output></label>` });
const words = (name, label, value) => ({ name, value, html: `<label class="formula-in">${label} <input type="text" name="${name}" value="${value}" size="${Math.max(22, value.length + 1)}" spellcheck="false" autocomplete="off"></label>` });
const pick = (name, label, options, value) => ({ name, value, html: `<fieldset><legend>${label}</legend><span class="options">${options.map((option) =>
  `<label><input type="radio" name="${name}" value="${option}"${option === value ? " checked" : ""}>${option}</label>`).join("")}</span></fieldset>` });
const seed = () => ({ name: "seed", value: 0, html: `<label>Seed <input type="number" name="seed" min="0" max="9999" value="0" autocomplete="off"></label>` });

const figures = document.querySelectorAll(".panels figure"), controls = document.querySelector(".controls form");
const slider = document.getElementById("position"), play = document.getElementById("play"), alarm = document.querySelector("[role=alert]");
const template = document.getElementById("program").textContent;
const python = (value) => (typeof value === "string" ? value : JSON.stringify(value, (_, one) => (ArrayBuffer.isView(one) ? Array.from(one) : one)).replaceAll(",", ", ").replace(/(.{70,84}?,) /g, "$1\n    "));
const state = {};
let page = null, frames = null, timer = null;

// A page has controls, a run of its state that gives frames, and what a frame shows.
function live(described) {
  page = described;
  for (const [name, value] of Object.entries(page.layout ?? {})) document.querySelector(".panels").style.setProperty(`--${name}`, value);
  controls.innerHTML = page.controls.map(({ html }) => html).join("");
  for (const { name, value } of page.controls) state[name] = value;
  Object.assign(state, page.state);
  update();
  if (frames) slider.value = page.start ?? Math.floor(frames.length / 2);
  show();
}
function read() {
  for (const { name, value } of page.controls) {
    const field = controls.elements[name], text = field.value;
    state[name] = typeof value === "number" ? Math.min(Math.max(Number(text), field.min || -Infinity), field.max || Infinity) : text;
    if (field.type === "range") field.nextElementSibling.textContent = text;
  }
}
function update() {
  read();
  try {
    page.limits?.(state, controls.elements);
    frames = page.run(state);
    alarm.textContent = "";
  } catch (error) {
    alarm.textContent = error.message;
  }
  if (frames) slider.max = frames.length - 1;
  show();
}
function show() {
  if (!frames) return;
  const t = slider.valueAsNumber, { panels, numbers, label, program } = page.show(frames, t, state);
  panels.forEach((panel, k) => draw(figures[k], panel));
  document.querySelectorAll(".readouts dd").forEach((value, k) => { value.textContent = typeof numbers[k] === "number" ? number(numbers[k]) : numbers[k]; });
  document.getElementById("label").textContent = label;
  slider.setAttribute("aria-valuetext", label);
  document.getElementById("program").textContent = template.replace(/\{(\w+)\}/g, (_, name) => python(program[name]));
}
function pause() { clearInterval(timer); timer = null; play.textContent = "Play"; }
play.onclick = () => {
  if (timer !== null) return pause();
  if (slider.value === slider.max) slider.value = 0;
  play.textContent = "Pause";
  timer = setInterval(() => { slider.stepUp(); show(); if (slider.value === slider.max) pause(); }, 250);
};
slider.oninput = () => { pause(); show(); };
controls.oninput = update;
controls.onsubmit = (event) => event.preventDefault();
addEventListener("resize", show);
document.getElementById("copy").onclick = ({ target }) => {
  getSelection().selectAllChildren(document.getElementById("program"));
  target.textContent = document.execCommand("copy") ? "Copied" : "Selected";
};

// What is noted of a run before its first step and after each of so many.
const record = (run, steps, note) => [note(), ...span(steps).map(() => { run.step(); return note(); })];
