// Periodic updates: fetch the page again and change what differs, except while its tab is hidden.

import { showMessage } from "./message.mjs";
import { morph } from "./morph.mjs";
import { localTimes } from "./times.mjs";

const INTERVAL = 2000; // milliseconds
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

// Start the updates; return a function that updates at once. `onUpdate` runs after each update.
export function startUpdates(onUpdate = () => {}) {
  const enabled = document.querySelector("#live");
  let timer = null;
  let failing = false;

  async function update() {
    try {
      const response = await fetch(location.pathname, { headers: { Accept: "text/html" } });
      if (response.redirected) return location.reload();
      if (!response.ok) throw new Error(String(response.status));
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      localTimes(page);
      morph(document.querySelector("main"), page.querySelector("main"));
      onUpdate();
      document.querySelector("#updated").textContent = `as of ${clock.format(new Date())}`;
      if (failing) showMessage("The service answers again.", { done: true });
      failing = false;
    } catch {
      if (!failing) showMessage("The service does not answer, so these figures are old; still trying.");
      failing = true;
    }
  }

  async function updateAndSchedule() {
    await update();
    schedule();
  }

  function schedule() {
    clearTimeout(timer);
    timer = enabled?.checked && !document.hidden ? setTimeout(updateAndSchedule, INTERVAL) : null;
  }

  enabled?.addEventListener("change", () => (enabled.checked ? updateAndSchedule() : schedule()));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) schedule();
    else if (enabled?.checked) updateAndSchedule();
  });
  localTimes(document);
  schedule();
  return update;
}
