// The page of one campaign: charts, updates, and the buttons that pause, resume and close it.

import { call, campaignPath, say } from "./api.js";
import { drawCharts } from "./charts.js";
import { follow } from "./live.js";

const controls = document.querySelector(".controls");
const dialog = document.querySelector("#confirm-close");
const buttons = Object.fromEntries(
  [...(controls?.querySelectorAll("[data-verb]") ?? [])].map((button) => [button.dataset.verb, button]),
);
const soFar = document.querySelector("#so-far");
const done = {
  pause: "The campaign is paused: arrivals are skipped until it is resumed.",
  resume: "The campaign goes on.",
  close: "The campaign is closed for good.",
};

function changed() {
  if (controls) {
    const { status } = document.querySelector("#state").dataset;
    buttons.pause.hidden = status !== "running";
    buttons.resume.hidden = status !== "paused";
    buttons.close.hidden = status === "closed";
  }
  redraw();
}

function redraw() {
  const data = JSON.parse(document.querySelector("#chart-data").textContent);
  drawCharts(data, { soFar: soFar.checked });
}

const update = follow(changed);
soFar.addEventListener("change", redraw);
changed();

async function carryOut(verb) {
  const pressed = buttons[verb];
  pressed.disabled = true;
  try {
    await call("POST", campaignPath(controls.dataset.campaign, `/${verb}`));
    say(done[verb], { done: true });
    await update();
  } catch (error) {
    say(error.message);
  } finally {
    pressed.disabled = false;
  }
  // A button that has gone must not take the keyboard's place with it.
  const next = [pressed, buttons.resume, buttons.pause].find((button) => !button.hidden);
  (next ?? document.querySelector("main")).focus();
}

buttons.pause?.addEventListener("click", () => carryOut("pause"));
buttons.resume?.addEventListener("click", () => carryOut("resume"));
buttons.close?.addEventListener("click", () => {
  dialog.returnValue = "";
  dialog.showModal();
});
for (const button of Object.values(buttons)) button.disabled = false; // now that they work
dialog.addEventListener("close", () => {
  if (dialog.returnValue === "close") carryOut("close");
});
