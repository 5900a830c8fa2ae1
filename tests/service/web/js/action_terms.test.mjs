// Unit tests of the terms of an action.

import assert from "node:assert/strict";
import { test } from "node:test";

import { actionTerms, fieldValues } from "../../../../src/almoner/service/web/static/action_terms.mjs";

test("a plain cost is a number", () => {
  const plain = { name: "mail", cost: "0.5", reserve: "", expires: "", on_expiry: "", learn_cost: false };
  assert.equal(actionTerms(plain), 0.5);
  assert.equal(actionTerms({ ...plain, learn_cost: true }).learn_cost, true);
  assert.deepEqual(actionTerms({ ...plain, cost: { new: 1 } }).cost, { new: 1 });
});

test("values of a row are trimmed text, and states of boxes that can be checked", () => {
  const box = { type: "checkbox", checked: true, disabled: false, dataset: { field: "learn_cost" } };
  const all = { ...box, disabled: true, dataset: { field: "all" } };
  const text = { type: "text", value: " 7 days ", dataset: { field: "expires" } };
  const row = { querySelectorAll: () => [text, box, all] };
  assert.deepEqual(fieldValues(row), { expires: "7 days", learn_cost: true, all: false });
});
