// Keep a page up to date: fetch it again, and change what differs. Not while nobody looks.

import { say } from "./api.js";
import { morph } from "./morph.js";
import { localTimes } from "./times.js";

const EVERY = 2000;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export function follow(changed = () => {}) {
  const live = document.querySelector("#live");
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
      changed();
      document.querySelector("#updated").textContent = `as of ${clock.format(new Date())}`;
      if (failing) say("The service answers again.", { done: true });
      failing = false;
    } catch {
      if (!failing) say("The service does not answer, so these figures are old; still trying.");
      failing = true;
    }
  }

  async function loop() {
    await update();
    schedule();
  }

  function schedule() {
    clearTimeout(timer);
    timer = live?.checked && !document.hidden ? setTimeout(loop, EVERY) : null;
  }

  live?.addEventListener("change", () => (live.checked ? loop() : schedule()));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) schedule();
    else if (live?.checked) loop();
  });
  localTimes(document);
  schedule();
  return update;
}
