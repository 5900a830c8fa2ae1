// Unit tests of the request body of an amendment.

import assert from "node:assert/strict";
import { test } from "node:test";

import { amendment } from "../../../../src/almoner/service/web/static/amendment.mjs";

const same = (value) => ({ now: value, was: value });
const form = {
  budget: same("1500"),
  horizon: same("3000"),
  closes: same(""),
  arrivals: same(""),
  actions: [
    { name: "mail", cost: same("1"), active: same(true) },
    { name: "gift", cost: same("7"), active: same(false) },
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
      { name: "mail", cost: { now: "1.5", was: "1" }, active: { now: false, was: true } },
      { name: "gift", cost: same("7"), active: { now: true, was: false } },
    ],
    added: [
      { name: "call", cost: "3", reserve: "" },
      { name: "card", cost: "2", reserve: "4" },
    ],
    note: "boss",
  };
  assert.deepEqual(sent(changed), {
    budget: 2000.5,
    horizon: 3500,
    costs: { mail: 1.5 },
    stop: ["mail"],
    restart: ["gift"],
    add: { call: 3, card: { cost: 2, reserve: 4 } },
    note: "boss",
  });
});

test("a closing time is sent in UTC", () => {
  const closes = { now: "2026-11-25T00:00", was: "2026-11-23T00:00" };
  assert.equal(sent({ ...form, closes }).closes, new Date("2026-11-25T00:00").toISOString());
});

test("two actions of one name are refused", () => {
  const added = [{ name: "mail", cost: "3", reserve: "" }];
  assert.throws(() => amendment({ ...form, added }), /Two actions are called/);
});
