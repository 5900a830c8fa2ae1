// Errors of a form: one sentence, beside the field that it names, or else at the end of the form.

const TERMS = [
  ["cost", "the cost of "],
  ["reserve", "the reserve of "],
  ["expires", "the expiry of "],
  ["on_expiry", "on_expiry of "],
  ["learn_cost", "learn_cost of "],
  ["cost", "costs must give "],
];

// Beginnings of sentences on terms that have several fields, or another name in the form.
const PLACES = [
  [/^(?:the cap of an? |pace\.)(hour|day|week)\b/, (period) => `cap-${period}`],
  [/^(?:the zone of pace|pace\.zone)\b/, () => "zone"],
  [/^pace must\b/, () => "cap-day"],
  [/^(?:every of per_person|per_person\.every)\b/, () => "person-every"],
  [/^per_person\b/, () => "person-actions"],
  [/^reward_range\b/, () => "reward-high"],
  [/^a skip brings 0\b/, () => "reward-low"],
  [/^(?:horizon\.)?at must\b/, () => "closes"],
  [/^horizon\.arrivals\b/, () => "expected"],
  [/^(?:prior\.weight|the weight of a prior)\b/, () => "weight"],
  [/^features\b/, () => "features"],
  [/^(?:policy\.)?(?:rewards\.)?(?:the )?trust\b/, () => "trust"],
  [/^campaign .* has no /, () => "after"],
  [/^campaign .* was opened with /, () => "name"],
];

// The action and the field that a sentence of the service begins with, or the term of the campaign.
export function namedField(message, actions) {
  for (const [action, name] of actions.entries()) {
    const quoted = name.includes("'") && !name.includes('"') ? `"${name}"` : `'${name}'`;
    for (const [field, words] of TERMS) {
      if (message.startsWith(`${words}${quoted} `)) return { action, field };
    }
    const path = message.match(/^(?:actions|add|costs)\[(.*)\](?:\.(\w+))? must /);
    if (path?.[1] === quoted) return { action, field: path[2] ?? "cost" };
  }
  for (const [beginning, term] of PLACES) {
    const match = message.match(beginning);
    if (match) return { term: term(match[1]) };
  }
  const term = message.match(/^(\w+)(?:=True)? (?:must|needs|goes with|has no meaning|and \w+ exclude|cannot) /)?.[1];
  return term === undefined ? null : { term: term.replaceAll("_", "-") };
}

// Return functions that show and clear the error of a form. The rows of actions have a field "name",
// or the name in data-action.
export function formErrors(form, error) {
  const home = document.createComment("error");
  error.before(home);
  let cellRow = null;

  function clear() {
    error.textContent = "";
    home.after(error);
    cellRow?.remove();
    cellRow = null;
    for (const field of form.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-errormessage");
    }
  }

  function show(message) {
    clear();
    const field = find(message);
    if (field) {
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-errormessage", error.id);
      for (let parent = field.closest("details"); parent; parent = parent.parentElement.closest("details")) parent.open = true;
      place(field);
      field.focus();
    }
    error.textContent = message;
    error.scrollIntoView({ block: "nearest" });
  }

  function find(message) {
    const rows = [...form.querySelectorAll(".row.action, [data-action]")];
    const names = rows.map((row) => row.dataset.action ?? row.querySelector("[data-field=name]").value.trim());
    const named = namedField(message, names);
    if (named === null) return null;
    if (named.term === undefined) return rows[named.action].querySelector(`[data-field=${named.field}]`);
    const field = form.querySelector(`#${named.term}`);
    return field?.matches("input:enabled, select:enabled, textarea:enabled") ? field : null;
  }

  function place(field) {
    const tableRow = field.closest("tr");
    if (!tableRow) return (field.closest(".row") ?? field.closest(".field")).append(error);
    cellRow = document.createElement("tr");
    cellRow.setAttribute("role", "row");
    const cell = cellRow.insertCell();
    cell.setAttribute("role", "cell");
    cell.colSpan = tableRow.cells.length;
    cell.append(error);
    tableRow.after(cellRow);
  }

  return { show, clear };
}
