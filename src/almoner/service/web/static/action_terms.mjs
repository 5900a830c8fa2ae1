// Terms of an action from the fields of its row, as the API takes them.

// The values of the fields of a row by name: text as typed, and whether a box was checked here.
export function fieldValues(row) {
  const fields = [...row.querySelectorAll("[data-field]")];
  return Object.fromEntries(
    fields.map((field) => [field.dataset.field, field.type === "checkbox" ? field.checked && !field.disabled : field.value.trim()]),
  );
}

// A plain cost where nothing else is said; cost and reserve may be by context already.
export function actionTerms({ cost, reserve, expires, on_expiry, learn_cost }) {
  const terms = {
    cost: amount(cost),
    reserve: reserve === "" ? undefined : amount(reserve),
    expires: expires || undefined,
    on_expiry: on_expiry || undefined,
    learn_cost: learn_cost || undefined,
  };
  const given = Object.values(terms).filter((value) => value !== undefined);
  return given.length === 1 && typeof terms.cost === "number" ? terms.cost : terms;
}

// Give the fields of a new row ids, and its labels these.
export function labelFields(row, prefix) {
  for (const field of row.querySelectorAll("[data-field]")) {
    field.id = `${prefix}-${field.dataset.field}`;
    field.closest(".field").querySelector("label").htmlFor = field.id;
  }
}

function amount(value) {
  return typeof value === "object" || value === undefined ? value : Number(value);
}
