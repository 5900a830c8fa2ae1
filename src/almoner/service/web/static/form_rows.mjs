// Rows of contexts and actions of the create form, and the tables of rewards that follow them.

import { fieldValues, labelFields } from "./action_terms.mjs";
import { visible } from "./formatting.mjs";

const element = (id) => document.querySelector(`#${id}`);
const guesses = element("guesses");
const defaults = element("defaults");
const defaultGuesses = element("default-guesses");
const kinds = {
  context: { list: element("contexts"), template: element("context-row") },
  action: { list: element("actions"), template: element("action-row") },
};
let rowsCreated = 0;

export function addRow(kind) {
  const row = kinds[kind].template.content.firstElementChild.cloneNode(true);
  rowsCreated += 1;
  labelFields(row, `row-${rowsCreated}`);
  kinds[kind].list.append(row);
  updateRows(kind);
  rebuildTables();
  return row;
}

export function removeRow(row) {
  const kind = row.classList.contains("context") ? "context" : "action";
  const neighbour = row.previousElementSibling ?? row.nextElementSibling;
  const index = [...row.parentElement.children].indexOf(row);
  if (kind === "context") {
    for (const table of [guesses, defaults, defaultGuesses]) table.tBodies[0].deleteRow(index);
  } else {
    for (const tableRow of guesses.tBodies[0].rows) tableRow.deleteCell(index + 1);
  }
  row.remove();
  updateRows(kind);
  rebuildTables();
  neighbour.querySelector("input").focus();
}

export function rowValues(kind) {
  return [...kinds[kind].list.children].map(fieldValues);
}

export function tableValues() {
  return {
    guesses: cells(guesses),
    defaults: cells(defaults).flat(),
    defaultGuesses: cells(defaultGuesses).flat(),
  };
}

export function rebuildTables() {
  rebuildTable(guesses, names("action"), "Mean", { required: false });
  rebuildTable(defaults, ["doing nothing"], "Mean", { required: true });
  rebuildTable(defaultGuesses, ["doing nothing"], "Guessed", { required: false });
}

// Buttons look alike, so each has the number of its row as its accessible name. The last row of a
// kind cannot be removed.
function updateRows(kind) {
  const rows = [...kinds[kind].list.children];
  rows.forEach((row, index) => {
    const button = row.querySelector("[data-remove]");
    button.setAttribute("aria-label", `Remove ${kind} ${index + 1}`);
    button.disabled = rows.length === 1;
  });
  if (kind === "context") disablePolicies(rows.length);
}

// Policies for another number of contexts would be refused; a chosen one stays chosen.
function disablePolicies(contexts) {
  for (const option of element("policy").options) {
    const required = option.dataset.contexts;
    option.disabled = required !== undefined && Number(required) !== contexts;
  }
}

function names(kind) {
  return rowValues(kind).map((row, index) => row.name || `${kind} ${index + 1}`);
}

// One input for each context and column; typed values are kept by their index.
function rebuildTable(table, columns, kind, { required }) {
  const previous = cells(table);
  const [min, max] = [element("reward-low").value || 0, element("reward-high").value || 1];
  table.querySelectorAll("thead, tbody").forEach((part) => part.remove());
  const head = table.createTHead().insertRow();
  head.append(headerCell("Context", "col"), ...columns.map((name) => headerCell(name, "col")));
  const body = table.createTBody();
  names("context").forEach((context, row) => {
    const tableRow = body.insertRow();
    tableRow.append(headerCell(context, "row"));
    columns.forEach((name, column) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "number", min, max, step: "any", required });
      if (!required) input.placeholder = "no idea";
      input.value = previous[row]?.[column] ?? "";
      input.inputMode = "decimal";
      input.disabled = table.closest("[hidden]") !== null;
      input.setAttribute("aria-label", `${kind} reward of ${name} for ${context}`);
      tableRow.insertCell().append(input);
    });
  });
}

function cells(table) {
  return [...table.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("input")].map((input) => input.value),
  );
}

function headerCell(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  const name = document.createElement("bdi"); // keeps its text direction to itself
  name.textContent = name.title = visible(text); // the style sheet cuts off long ones
  cell.append(name);
  return cell;
}
