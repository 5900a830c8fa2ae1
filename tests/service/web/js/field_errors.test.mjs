// Unit tests of the field that the sentence of an error names.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedField } from "../../../../src/almoner/service/web/static/field_errors.mjs";

const field = (message) => namedField(message, ["mail", "5 EUR", "boss's"]);

test("sentences on an action name its row and field", () => {
  assert.deepEqual(field("the reserve of 'mail' must be no less than its cost, got 1"), { action: 0, field: "reserve" });
  assert.deepEqual(field("the expiry of '5 EUR' must be a duration"), { action: 1, field: "expires" });
  assert.deepEqual(field(`on_expiry of "boss's" must come with expires`), { action: 2, field: "on_expiry" });
  assert.deepEqual(field("costs must give '5 EUR' no more than its reserve 5"), { action: 1, field: "cost" });
  assert.deepEqual(field("add['mail'].reserve must be a number"), { action: 0, field: "reserve" });
});

test("other sentences name a term of the campaign, or nothing", () => {
  assert.deepEqual(field("reward_window must be a duration"), { term: "reward-window" });
  assert.deepEqual(field("the reserve of 'letter' must be no less"), null);
  assert.deepEqual(field("Two contexts are called “a”; give them different names."), null);
});
