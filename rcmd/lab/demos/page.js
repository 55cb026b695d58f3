"use strict";
// Shows the scene that the reader chose at the position of the slider.
const page = JSON.parse(document.getElementById("page").textContent);
const plots = [...document.querySelectorAll(".plot")];
const values = [...document.querySelectorAll(".readouts dd")];
const choices = [...document.querySelectorAll(".options")];
const slider = document.getElementById("position");
const label = document.getElementById("label");
const play = document.getElementById("play");
const CONFIG = { responsive: true, displayModeBar: false };
const AT_ONCE = { mode: "immediate", frame: { duration: 0, redraw: true }, transition: { duration: 0 } };

const picked = () => choices.map((options) => options.querySelector(":checked").value);

// Options without a scene, given those before them, cannot be picked.
function allowOptions() {
  choices.forEach((options, place) => {
    const before = picked().slice(0, place);
    const inputs = [...options.querySelectorAll("input")];
    for (const input of inputs) {
      const start = [...before, input.value];
      input.disabled = !page.scenes.some(({ key }) => start.every((value, i) => key[i] === value));
    }
    if (options.querySelector(":checked").disabled) inputs.find((input) => !input.disabled).checked = true;
  });
}

const chosenScene = () => page.scenes.find(({ key }) => key.join("\n") === picked().join("\n"));

async function draw(scene) {
  const drawn = scene.drawings.map(({ traces, layout }, i) =>
    Plotly.react(plots[i], structuredClone(traces), structuredClone(layout), CONFIG));
  await Promise.all(drawn);
}

async function show(frame) {
  label.textContent = frame.label;
  slider.setAttribute("aria-valuetext", frame.label);
  values.forEach((value, i) => { value.textContent = frame.readouts[i]; });
  const moved = frame.changes.map((change, i) => {
    const places = Object.keys(change).map(Number), data = structuredClone(Object.values(change));
    return places.length ? Plotly.animate(plots[i], { traces: places, data }, AT_ONCE) : null;
  });
  await Promise.all(moved);
}

let shown = null, wanted = false, busy = false;

// One picture at a time: plotly gives up an animation that another one interrupts.
async function update() {
  wanted = true;
  if (busy) return;
  busy = true;
  while (wanted) {
    wanted = false;
    const scene = chosenScene();
    if (scene !== shown) {
      slider.max = scene.frames.length - 1;
      if (shown === null) slider.value = scene.start;
      await draw(scene);
      shown = scene;
    }
    const position = slider.valueAsNumber;
    await show(scene.frames[position]);
    document.body.dataset.shown = `${scene.key.join("|")}@${position}`;
  }
  busy = false;
}

let timer = null;
function pause() {
  clearInterval(timer);
  timer = null;
  play.textContent = "Play";
}
play.addEventListener("click", () => {
  if (timer !== null) return pause();
  if (slider.value === slider.max) slider.value = 0;
  play.textContent = "Pause";
  timer = setInterval(() => {
    slider.stepUp();
    update();
    if (slider.value === slider.max) pause();
  }, 350);
});
slider.addEventListener("input", () => { pause(); update(); });
for (const options of choices) options.addEventListener("change", () => { allowOptions(); update(); });
document.getElementById("copy").addEventListener("click", async ({ target }) => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("pre"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  target.textContent = document.execCommand("copy") ? "Copied" : "Selected";
});
allowOptions();
update();
