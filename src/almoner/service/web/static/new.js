// The form of a new campaign: rows that come and go, a plan to look at, and then the start.

import { call } from "./api.js";
import { planView } from "./plan.js";

const form = document.querySelector("#new-campaign");
const error = document.querySelector("#form-error");
const planNote = document.querySelector("#plan-note");
const planBody = document.querySelector("#plan-body");
const startRow = document.querySelector("#start-row");
const field = (id) => document.querySelector(`#${id}`);
const guesses = field("guesses");
const defaults = field("defaults");
const defaultGuesses = field("default-guesses");
let rowsMade = 0;

const kinds = {
  context: { list: field("contexts"), template: field("context-row") },
  action: { list: field("actions"), template: field("action-row") },
};

function addRow(kind) {
  const row = kinds[kind].template.content.firstElementChild.cloneNode(true);
  rowsMade += 1;
  for (const input of row.querySelectorAll("input")) {
    input.id = `row-${rowsMade}-${input.dataset.field}`;
    input.previousElementSibling.htmlFor = input.id;
  }
  kinds[kind].list.append(row);
  renumber(kind);
  return row;
}

function removeRow(row) {
  const kind = row.classList.contains("context") ? "context" : "action";
  const beside = row.previousElementSibling ?? row.nextElementSibling;
  const place = [...row.parentElement.children].indexOf(row);
  if (kind === "context") {
    for (const table of [guesses, defaults, defaultGuesses]) table.tBodies[0].deleteRow(place);
  } else {
    for (const line of guesses.tBodies[0].rows) line.deleteCell(place + 1);
  }
  row.remove();
  renumber(kind);
  beside.querySelector("input").focus();
  layTables();
}

// Rows look alike; a screen reader needs to hear which one a button is of. One must remain.
function renumber(kind) {
  const rows = [...kinds[kind].list.children];
  rows.forEach((row, place) => {
    const button = row.querySelector("[data-remove]");
    button.setAttribute("aria-label", `Remove ${kind} ${place + 1}`);
    button.disabled = rows.length === 1;
  });
  if (kind === "context") offerPolicies(rows.length);
}

// What is not for so many contexts would only be refused; what is chosen already stays chosen.
function offerPolicies(contexts) {
  for (const option of field("policy").options) {
    const only = option.dataset.contexts;
    option.disabled = only !== undefined && Number(only) !== contexts;
  }
}

function values(kind) {
  return [...kinds[kind].list.children].map((row) =>
    Object.fromEntries(
      [...row.querySelectorAll("[data-field]")].map((input) => [input.dataset.field, input.value.trim()]),
    ),
  );
}

function names(kind) {
  return values(kind).map((row, place) => row.name || `${kind} ${place + 1}`);
}

function layTables() {
  layTable(guesses, names("action"), "0.5", "Mean");
  layTable(defaults, ["doing nothing"], "", "Mean");
  layTable(defaultGuesses, ["doing nothing"], "0", "Guessed");
}

// A table has a cell for each context and column; what was typed stays with its place.
function layTable(table, columns, start, kind) {
  const before = cells(table);
  table.querySelectorAll("thead, tbody").forEach((part) => part.remove());
  const head = table.createTHead().insertRow();
  head.append(heading("Context", "col"), ...columns.map((name) => heading(name, "col")));
  const body = table.createTBody();
  names("context").forEach((context, row) => {
    const line = body.insertRow();
    line.append(heading(context, "row"));
    columns.forEach((name, column) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "number", min: 0, max: 1, step: "any", required: true });
      input.value = before[row]?.[column] ?? start;
      input.inputMode = "decimal";
      input.disabled = table.closest("[hidden]") !== null;
      input.setAttribute("aria-label", `${kind} reward of ${name} for ${context}`);
      line.insertCell().append(input);
    });
  });
}

function cells(table) {
  return [...table.querySelectorAll("tbody tr")].map((line) =>
    [...line.querySelectorAll("input")].map((input) => input.value),
  );
}

function heading(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  return cell;
}

function horizon() {
  if (form.elements.ends.value === "arrivals") return Number(field("horizon").value);
  return { at: new Date(field("closes").value).toISOString(), arrivals: Number(field("expected").value) };
}

function defaultRewards() {
  const brings = form.elements.skipping.value;
  if (brings === "known") return numbersIn(defaults);
  return brings === "learned" ? brings : null;
}

function numbersIn(table) {
  return byContext(cells(table).map(([value]) => Number(value)));
}

function byContext(list) {
  return Object.fromEntries(values("context").map((row, place) => [row.name, list[place]]));
}

// What is empty is undefined, which JSON leaves out.
function numberIn(id) {
  return field(id).value === "" ? undefined : Number(field(id).value);
}

function terms() {
  const actions = values("action").map((row) => [
    row.name,
    row.reserve === ""
      ? Number(row.cost)
      : { cost: Number(row.cost), reserve: Number(row.reserve) },
  ]);
  return {
    name: field("name").value.trim(),
    contexts: values("context").map((row) => row.name),
    actions: Object.fromEntries(actions),
    horizon: horizon(),
    budget: Number(field("budget").value),
    policy: field("policy").value,
    unit: numberIn("unit"),
    default_rewards: defaultRewards(),
    new_contexts: field("new-contexts").checked,
    seed: numberIn("seed"),
  };
}

function expectations() {
  const weights = values("context").map((row) => Number(row.weight));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) throw new Error("“How often” must be above 0 for one context at least.");
  const actions = values("action").map((row) => row.name);
  const means = cells(guesses).map((line) =>
    Object.fromEntries(line.map((value, column) => [actions[column], Number(value)])),
  );
  return {
    context_probs: byContext(weights.map((weight) => weight / total)),
    reward_means: byContext(means),
    default_means: form.elements.skipping.value === "learned" ? numbersIn(defaultGuesses) : null,
  };
}

// Two rows of one name would silently become one in a table of names.
function refuseTwins() {
  for (const kind of ["context", "action"]) {
    const all = values(kind).map((row) => row.name);
    const twin = all.find((name, place) => all.indexOf(name) !== place);
    if (twin !== undefined) {
      throw new Error(`Two ${kind}s are called “${twin}”; give them different names.`);
    }
  }
}

async function attempt(button, work) {
  button.disabled = true;
  error.textContent = "";
  try {
    refuseTwins();
    await work();
  } catch (reason) {
    error.textContent = reason.message;
    error.scrollIntoView({ block: "nearest" });
  } finally {
    button.disabled = false;
  }
}

function forget() {
  if (startRow.hidden) return;
  startRow.hidden = true;
  planNote.hidden = false;
  planNote.textContent = "The form has changed since; preview the plan again.";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(field("preview"), async () => {
    const asked = { ...terms(), ...expectations() };
    const plan = await call("POST", "/api/plan", asked);
    planBody.replaceChildren(...planView(plan, asked));
    planNote.hidden = true;
    startRow.hidden = false;
    field("plan").focus();
  });
});

field("start").addEventListener("click", () =>
  attempt(field("start"), async () => {
    const { name } = await call("POST", "/api/campaigns", terms());
    location.assign(`/campaigns/${encodeURIComponent(name)}`);
  }),
);

form.addEventListener("input", (event) => {
  forget();
  if (event.target.dataset.field === "name") layTables();
});

form.addEventListener("click", (event) => {
  const { add } = event.target.dataset;
  if (add) {
    addRow(add).querySelector("input").focus();
    layTables();
    forget();
  }
  if ("remove" in event.target.dataset) {
    removeRow(event.target.closest(".row"));
    forget();
  }
});

// What is marked data-when="ends=time" is there while that is chosen.
form.addEventListener("change", ({ target: { type, name, value } }) => {
  if (type !== "radio") return;
  for (const part of form.querySelectorAll(`[data-when^="${name}="]`)) {
    part.hidden = part.dataset.when !== `${name}=${value}`;
    for (const input of part.querySelectorAll("input")) input.disabled = part.hidden;
  }
});

// The browser says nothing of a mistake that it cannot show. Such events do not bubble.
form.addEventListener("invalid", ({ target }) => target.closest("details")?.setAttribute("open", ""), true);

field("policy").addEventListener("change", () => {
  field("policy-hint").textContent = field("policy").selectedOptions[0].dataset.hint;
});

addRow("context");
addRow("context");
addRow("action");
layTables();
field("preview").disabled = false;
