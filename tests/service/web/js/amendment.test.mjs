// Unit tests of the request body of an amendment.

import assert from "node:assert/strict";
import { test } from "node:test";

import { amendment } from "../../../../src/almoner/service/web/static/amendment.mjs";

const same = (value) => ({ now: value, was: value });
const terms = (values, changes = {}) => {
  const shown = { reserve: "", expires: "", on_expiry: "", learn_cost: false, ...values };
  const parts = Object.entries(shown).map(([term, was]) => [term, { now: changes[term] ?? was, was }]);
  return Object.fromEntries(parts);
};
const form = {
  budget: same("1500"),
  horizon: same("3000"),
  closes: same(""),
  arrivals: same(""),
  actions: [
    { name: "mail", terms: terms({ cost: "1" }), active: same(true), byContext: {} },
    { name: "gift", terms: terms({ cost: "7" }), active: same(false), byContext: {} },
  ],
  added: [],
  note: "",
};
const sent = (values) => JSON.parse(JSON.stringify(amendment(values)));

test("a form as it was shown changes nothing", () => {
  assert.deepEqual(sent(form), {});
});

test("only what was changed is sent, as numbers and lists", () => {
  const changed = {
    ...form,
    budget: { now: "2000.5", was: "1500" },
    horizon: { now: "3500", was: "3000" },
    actions: [
      { ...form.actions[0], terms: terms({ cost: "1" }, { cost: "1.5" }), active: { now: false, was: true } },
      { ...form.actions[1], active: { now: true, was: false } },
    ],
    added: [
      { name: "call", cost: "3", reserve: "", expires: "", on_expiry: "", learn_cost: false },
      { name: "card", cost: "2", reserve: "4", expires: "7 days", on_expiry: "charge", learn_cost: true },
    ],
    note: "boss",
  };
  assert.deepEqual(sent(changed), {
    budget: 2000.5,
    horizon: 3500,
    costs: { mail: 1.5 },
    stop: ["mail"],
    restart: ["gift"],
    add: { call: 3, card: { cost: 2, reserve: 4, expires: "7 days", on_expiry: "charge", learn_cost: true } },
    note: "boss",
  });
});

const costs = (shown, changes, byContext = {}) =>
  sent({ ...form, actions: [{ ...form.actions[0], terms: terms(shown, changes), byContext }] }).costs?.mail;

test("all terms of an action are sent if another than its cost changes", () => {
  const shown = { cost: "1", reserve: "5", expires: "1 week", on_expiry: "charge", learn_cost: true };
  assert.equal(costs(shown, {}), undefined);
  assert.deepEqual(costs(shown, { reserve: "6" }), { cost: 1, reserve: 6, expires: "1 week", on_expiry: "charge", learn_cost: true });
  assert.deepEqual(costs(shown, { expires: "", on_expiry: "", learn_cost: false }), { cost: 1, reserve: 5 });
  assert.deepEqual(costs(shown, { cost: "9" }), { cost: 9, reserve: 5, expires: "1 week", on_expiry: "charge", learn_cost: true });
  assert.deepEqual(costs({ cost: "1", reserve: "5" }, { reserve: "" }), { cost: 1 });
  assert.equal(costs({ cost: "1", expires: "1 week" }, { cost: "2" }), 2);
});

test("costs by context are sent again as they are", () => {
  const shown = { cost: "", expires: "" };
  const cost = { new: 1, old: 2 };
  assert.deepEqual(costs(shown, { reserve: "3", expires: "7 days" }, { cost }), { cost, reserve: 3, expires: "7 days" });
  const reserve = { new: 3, old: 4 };
  assert.deepEqual(costs({ cost: "1" }, { expires: "7 days" }, { reserve }), { cost: 1, reserve, expires: "7 days" });
});

test("a closing time is sent in UTC", () => {
  const closes = { now: "2026-11-25T00:00", was: "2026-11-23T00:00" };
  assert.equal(sent({ ...form, closes }).closes, new Date("2026-11-25T00:00").toISOString());
});

test("two actions of one name are refused", () => {
  const added = [{ name: "mail", cost: "3", reserve: "" }];
  assert.throws(() => amendment({ ...form, added }), /Two actions are called/);
});
