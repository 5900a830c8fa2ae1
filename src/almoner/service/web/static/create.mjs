// Create page: edit the form, preview the plan, start the campaign.

import { call, fetchFragment } from "./api.mjs";
import { formErrors } from "./field_errors.mjs";
import { addRow, rebuildTables, removeRow, rowValues, tableValues } from "./form_rows.mjs";
import { campaignTerms, previewTerms, rejectDuplicateNames } from "./terms.mjs";

const form = document.querySelector("#new-campaign");
const errors = formErrors(form, document.querySelector("#form-error"));
const planNote = document.querySelector("#plan-note");
const planBody = document.querySelector("#plan-body");
const startRow = document.querySelector("#start-row");
const field = (id) => document.querySelector(`#${id}`);

function formValues() {
  return {
    name: field("name").value.trim(),
    kind: form.elements.kind.value,
    policy: field("policy").value,
    caution: field("caution").value,
    trust: field("trust").value,
    features: names(field("features").value),
    contexts: rowValues("context"),
    actions: rowValues("action"),
    budget: field("budget").value,
    ends: form.elements.ends.value,
    horizon: field("horizon").value,
    closes: field("closes").value,
    expected: field("expected").value,
    skipping: form.elements.skipping.value,
    pace: form.elements.pace.value,
    caps: {
      hour: field("cap-hour").value,
      day: field("cap-day").value,
      week: field("cap-week").value,
      zone: field("zone").value.trim(),
    },
    default: field("default").value.trim(),
    newContexts: field("new-contexts").checked,
    rewardWindow: field("reward-window").value.trim(),
    learnCost: field("learn-cost").checked,
    risk: field("risk").value,
    unit: field("unit").value,
    seed: field("seed").value,
    currency: field("currency").value.trim(),
    rewardLow: field("reward-low").value,
    rewardHigh: field("reward-high").value,
    after: field("after").value,
    memory: field("memory").value,
    weight: field("weight").value,
    holdout: field("holdout").value,
    explore: field("explore").value,
    personActions: field("person-actions").value,
    personEvery: field("person-every").value,
    ...tableValues(),
  };
}

// The names on the lines of a text; empty lines name nothing.
function names(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

// Send the form with the button disabled, and show an error beside the form.
async function submit(button, send) {
  button.disabled = true;
  errors.clear();
  try {
    const values = formValues();
    rejectDuplicateNames(values);
    await send(values);
  } catch (reason) {
    errors.show(reason.message);
  } finally {
    button.disabled = false;
  }
}

// After a change of the form, neither an error nor the plan shown is about what it says now.
function formChanged() {
  errors.clear();
  if (startRow.hidden) return;
  startRow.hidden = true;
  planNote.hidden = false;
  planNote.textContent = "The form has changed since; preview the plan again.";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit(field("preview"), async (values) => {
    planBody.innerHTML = await fetchFragment("/new/plan", previewTerms(values));
    planNote.hidden = true;
    startRow.hidden = false;
    field("plan").focus();
  });
});

field("start").addEventListener("click", () =>
  submit(field("start"), async (values) => {
    const { name } = await call("POST", "/api/campaigns", campaignTerms(values));
    location.assign(`/campaigns/${encodeURIComponent(name)}`);
  }),
);

form.addEventListener("input", (event) => {
  formChanged();
  if (event.target.dataset.field === "name") rebuildTables();
  if (event.target.id.startsWith("reward-")) rebuildTables();
  if (event.target.id === "after") field("memory").disabled = event.target.value === "";
});

form.addEventListener("click", (event) => {
  const { add } = event.target.dataset;
  if (add) {
    addRow(add).querySelector("input").focus();
    formChanged();
  }
  if ("remove" in event.target.dataset) {
    removeRow(event.target.closest(".row"));
    formChanged();
  }
});

// A part with data-when="ends=time" is shown while the field "ends" has the value "time", and one with
// data-when="kind=scores|features" for both values. What is in a hidden part is disabled, so that the
// browser does not ask for it.
form.addEventListener("change", ({ target: { type, name, value } }) => {
  if (type !== "radio" && type !== "select-one") return;
  for (const part of form.querySelectorAll(`[data-when^="${name}="]`)) {
    part.hidden = !part.dataset.when.slice(name.length + 1).split("|").includes(value);
  }
  for (const input of form.querySelectorAll("[data-when] :is(input, select, textarea)")) {
    input.disabled = input.closest("[hidden]") !== null;
  }
  if (field("after").value === "") field("memory").disabled = true;
});

// The browser reports no invalid field inside closed details, so open them. "invalid" events do not
// bubble: listen in the capture phase.
form.addEventListener("invalid", ({ target }) => target.closest("details")?.setAttribute("open", ""), true);

field("policy").addEventListener("change", () => {
  field("policy-hint").textContent = field("policy").selectedOptions[0].dataset.hint;
});

addRow("context");
addRow("context");
addRow("action");
field("preview").disabled = false;
