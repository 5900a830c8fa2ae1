// Campaign page: charts, periodic updates, and the buttons that pause, resume and close.

import { call, campaignPath } from "./api.mjs";
import { chartOf } from "./charts.mjs";
import { drawChart } from "./draw_chart.mjs";
import { showMessage } from "./message.mjs";
import { startUpdates } from "./updates.mjs";

const controls = document.querySelector(".controls");
const dialog = document.querySelector("#confirm-close");
const buttons = Object.fromEntries(
  [...(controls?.querySelectorAll("[data-verb]") ?? [])].map((button) => [button.dataset.verb, button]),
);
const soFar = document.querySelector("#so-far");
const doneMessages = {
  pause: "The campaign is paused: arrivals are skipped until it is resumed.",
  resume: "The campaign goes on.",
  close: "The campaign is closed for good.",
};

function refresh() {
  if (controls) {
    const { status } = document.querySelector("#state").dataset;
    buttons.pause.hidden = status !== "running";
    buttons.resume.hidden = status !== "paused";
    buttons.close.hidden = status === "closed";
    controls.querySelector("[data-edit]").hidden = status === "closed";
  }
  drawCharts();
}

function drawCharts() {
  const data = JSON.parse(document.querySelector("#chart-data").textContent);
  for (const element of document.querySelectorAll("[data-chart]")) {
    drawChart(element, chartOf(element.dataset.chart, data, { soFar: soFar.checked }));
    element.closest("figure").querySelector("[data-marks]").hidden = data.amended.length === 0;
  }
}

const update = startUpdates(refresh);
soFar.addEventListener("change", drawCharts);
refresh();

async function changeStatus(verb) {
  const pressed = buttons[verb];
  pressed.disabled = true;
  try {
    await call("POST", campaignPath(controls.dataset.campaign, `/${verb}`));
    showMessage(doneMessages[verb], { done: true });
    await update();
  } catch (error) {
    showMessage(error.message);
  } finally {
    pressed.disabled = false;
  }
  // Keep the keyboard focus when the pressed button has disappeared.
  const next = [pressed, buttons.resume, buttons.pause].find((button) => !button.hidden);
  (next ?? document.querySelector("main")).focus();
}

buttons.pause?.addEventListener("click", () => changeStatus("pause"));
buttons.resume?.addEventListener("click", () => changeStatus("resume"));
buttons.close?.addEventListener("click", () => {
  dialog.returnValue = "";
  dialog.showModal();
});
for (const button of Object.values(buttons)) button.disabled = false; // they need this script
dialog.addEventListener("close", () => {
  if (dialog.returnValue === "close") changeStatus("close");
});
