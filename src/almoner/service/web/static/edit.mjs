// Edit page: change a running campaign, with its plan before and after shown first.

import { call, campaignPath, fetchFragment } from "./api.mjs";
import { fieldValues, labelFields } from "./action_terms.mjs";
import { amendment } from "./amendment.mjs";
import { formErrors } from "./field_errors.mjs";

const form = document.querySelector("#edit-campaign");
const errors = formErrors(form, document.querySelector("#form-error"));
const change = document.querySelector("#change");
const changeNote = document.querySelector("#change-note");
const applyRow = document.querySelector("#apply-row");
const list = document.querySelector("#actions");
const template = document.querySelector("#action-row");
const name = form.dataset.campaign;
const page = `/campaigns/${encodeURIComponent(name)}`;
let rows = 0;

function values() {
  const text = (id) => form.querySelector(`#${id}`)?.value.trim() ?? "";
  const was = (id) => form.querySelector(`#${id}`)?.dataset.was ?? "";
  return {
    budget: { now: text("budget"), was: was("budget") },
    horizon: { now: text("horizon"), was: was("horizon") },
    closes: { now: text("closes"), was: was("closes") },
    arrivals: { now: text("arrivals"), was: "" },
    actions: [...form.querySelectorAll("[data-action]")].map((row) => {
      const { active, ...terms } = changes(row);
      return { name: row.dataset.action, active, terms, byContext: JSON.parse(row.dataset.byContext) };
    }),
    added: [...list.children].map(fieldValues),
    note: text("note"),
  };
}

// The fields of an action, now and as they were shown; those that it has no field for are empty.
function changes(row) {
  const fields = ["cost", "reserve", "expires", "on_expiry", "learn_cost", "active"];
  const now = fieldValues(row);
  return Object.fromEntries(
    fields.map((name) => {
      const was = row.querySelector(`[data-field=${name}]`)?.dataset.was ?? "";
      return [name, typeof now[name] === "boolean" ? { now: now[name], was: was === "on" } : { now: now[name] ?? "", was }];
    }),
  );
}

// Send the form with the button disabled, and show an error beside the form.
async function submit(button, send) {
  button.disabled = true;
  errors.clear();
  try {
    await send(amendment(values()));
  } catch (reason) {
    errors.show(reason.message);
  } finally {
    button.disabled = false;
  }
}

const preview = form.querySelector("#preview");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit(preview, async (body) => {
    document.querySelector("#change-body").innerHTML = await fetchFragment(`${page}/edit/plan`, body);
    change.hidden = applyRow.hidden = false;
    changeNote.hidden = true;
    change.focus();
  });
});

const apply = document.querySelector("#apply");
apply.addEventListener("click", () =>
  submit(apply, async (body) => {
    await call("PATCH", campaignPath(name), body);
    location.assign(page);
  }),
);

// After a change of the form, the plan shown is not about what it says now.
function formChanged() {
  errors.clear();
  applyRow.hidden = true;
  changeNote.hidden = false;
}

form.addEventListener("input", formChanged);
form.addEventListener("click", ({ target }) => {
  if ("add" in target.dataset) {
    const row = template.content.firstElementChild.cloneNode(true);
    rows += 1;
    labelFields(row, `added-${rows}`);
    list.append(row);
    row.querySelector("input").focus();
    formChanged();
  }
  if ("remove" in target.dataset) {
    target.closest(".row").remove();
    formChanged();
  }
});

// The closing time by the clock of the browser, to the minute.
const closes = form.querySelector("#closes");
if (closes) {
  const at = new Date(closes.dataset.time);
  at.setMinutes(at.getMinutes() - at.getTimezoneOffset());
  closes.value = closes.dataset.was = at.toISOString().slice(0, 16);
}
preview.disabled = false;
