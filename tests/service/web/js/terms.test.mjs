import assert from "node:assert/strict";
import { test } from "node:test";

import {
  campaignTerms,
  previewTerms,
  rejectDuplicateNames,
} from "../../../../src/almoner/service/web/static/terms.mjs";

const FORM = {
  name: "spring",
  kind: "contexts",
  trust: "",
  features: [],
  policy: "thrifty",
  caution: "",
  contexts: [
    { name: "new", weight: "3" },
    { name: "old", weight: "1" },
  ],
  actions: [
    { name: "mail", cost: "0.5", reserve: "", expires: "", on_expiry: "", learn_cost: false },
    { name: "call", cost: "2", reserve: "3.5", expires: "", on_expiry: "", learn_cost: false },
  ],
  budget: "2000",
  ends: "arrivals",
  horizon: "5000",
  closes: "",
  expected: "",
  skipping: "nothing",
  pace: "free",
  caps: { hour: "", day: "", week: "", zone: "" },
  default: "",
  defaults: ["", ""],
  defaultGuesses: ["0", "0"],
  guesses: [
    ["0.1", "0.2"],
    ["0.3", "0.4"],
  ],
  newContexts: false,
  rewardWindow: "",
  learnCost: false,
  risk: "",
  unit: "",
  seed: "",
  currency: "",
  rewardLow: "",
  rewardHigh: "",
  after: "",
  memory: "0.75",
  weight: "50",
  holdout: "",
  explore: "",
  personActions: "",
  personEvery: "30 days",
};

const sent = (body) => JSON.parse(JSON.stringify(body));

test("terms of a form, without the fields left empty", () => {
  assert.deepEqual(sent(campaignTerms(FORM)), {
    name: "spring",
    policy: "thrifty",
    contexts: ["new", "old"],
    actions: { mail: 0.5, call: { cost: 2, reserve: 3.5 } },
    budget: 2000,
    horizon: 5000,
    default_rewards: null,
    new_contexts: false,
    prior: { means: { new: { mail: 0.1, call: 0.2 }, old: { mail: 0.3, call: 0.4 } }, weight: 50 },
  });
});

test("a caution goes with the default policy only", () => {
  const policy = (form) => sent(campaignTerms({ ...FORM, ...form })).policy;
  assert.equal(policy({ caution: "1.5" }), "thrifty(caution=1.5)");
  assert.equal(policy({ caution: "0" }), "thrifty(caution=0)");
  assert.equal(policy({ caution: "1.5", policy: "greedy" }), "greedy");
});

test("expiry and learned cost of an action are sent if they are given", () => {
  const [mail, call] = FORM.actions;
  const actions = [
    { ...mail, expires: "7 days", learn_cost: true },
    { ...call, expires: "90 minutes", on_expiry: "charge" },
  ];
  assert.deepEqual(sent(campaignTerms({ ...FORM, actions })).actions, {
    mail: { cost: 0.5, expires: "7 days", learn_cost: true },
    call: { cost: 2, reserve: 3.5, expires: "90 minutes", on_expiry: "charge" },
  });
});

test("guesses that were not typed are no prior", () => {
  const guesses = [
    ["", ""],
    ["0", ""],
  ];
  assert.deepEqual(campaignTerms({ ...FORM, guesses, weight: "0" }).prior, { means: { old: { mail: 0 } }, weight: 0 });
  guesses[1][0] = "";
  assert.equal(campaignTerms({ ...FORM, guesses }).prior, undefined);
});

test("rewards in money, and the campaign before", () => {
  const form = { ...FORM, currency: "EUR", rewardHigh: "350", after: "week-46" };
  const { currency, reward_range, after, memory } = campaignTerms(form);
  assert.deepEqual([currency, reward_range, after, memory], ["EUR", [0, 350], "week-46", 0.75]);
  assert.deepEqual(campaignTerms({ ...FORM, rewardLow: "-50", rewardHigh: "9" }).reward_range, [-50, 9]);
  assert.equal(campaignTerms(FORM).memory, undefined);
});

test("unit and seed are sent if they are filled in, 0 too", () => {
  const { unit, seed } = campaignTerms({ ...FORM, unit: "0.01", seed: "0" });
  assert.deepEqual([unit, seed], [0.01, 0]);
});

test("hold-out, exploration and a limit for persons are sent if they are filled in", () => {
  const { holdout, explore, per_person } = campaignTerms({
    ...FORM,
    holdout: "0.1",
    explore: "0.02",
    personActions: "1",
    personEvery: " 30 days ",
  });
  assert.deepEqual([holdout, explore], [0.1, 0.02]);
  assert.deepEqual(per_person, { actions: 1, every: "30 days" });
});

test("a reward window is sent as it was typed", () => {
  assert.equal(campaignTerms({ ...FORM, rewardWindow: "36 hours" }).reward_window, "36 hours");
});

test("learned costs and a risk are sent if they are asked for", () => {
  const { learn_cost, risk } = campaignTerms({ ...FORM, learnCost: true, risk: "0.01" });
  assert.deepEqual([learn_cost, risk], [true, 0.01]);
});

test("a closing time is sent in UTC with the expected arrivals", () => {
  const form = { ...FORM, ends: "time", closes: "2099-12-31T23:30+02:00", expected: "400" };
  assert.deepEqual(campaignTerms(form).horizon, { at: "2099-12-31T21:30:00.000Z", arrivals: 400 });
});

test("known rewards of skipping are sent by context", () => {
  const form = { ...FORM, skipping: "known", defaults: ["0.2", "0.1"] };
  assert.deepEqual(campaignTerms(form).default_rewards, { new: 0.2, old: 0.1 });
  assert.equal("skip" in campaignTerms(form).prior.means.new, false);
});

test("with features, the rewards of skipping are learned if they are asked for", () => {
  const sentWith = (skipping) => campaignTerms({ ...FORM, kind: "features", features: ["age"], skipping });
  assert.equal(sentWith("learned").default_rewards, "learned");
  assert.equal(sentWith("known").default_rewards, undefined);
  assert.equal(campaignTerms({ ...FORM, kind: "scores", trust: "", skipping: "learned" }).default_rewards, undefined);
});

test("guesses of what skipping brings are part of the prior while it is learned", () => {
  const form = { ...FORM, skipping: "learned", defaultGuesses: ["0.2", ""] };
  assert.equal(campaignTerms(form).default_rewards, "learned");
  assert.deepEqual(campaignTerms(form).prior.means, { new: { mail: 0.1, call: 0.2, skip: 0.2 }, old: { mail: 0.3, call: 0.4 } });
});

test("a preview adds shares that sum to 1", () => {
  const body = previewTerms(FORM);
  assert.deepEqual(body.context_probs, { new: 0.75, old: 0.25 });
  assert.deepEqual(sent({ ...body, ...campaignTerms(FORM) }), sent(body), "and the terms themselves");
});

test("a preview needs a context that comes", () => {
  const contexts = FORM.contexts.map((row) => ({ ...row, weight: "0" }));
  assert.throws(() => previewTerms({ ...FORM, contexts }), { message: /“How often” must be above 0/ });
});

test("shares of huge and of tiny weights sum to 1", () => {
  const probs = (...weights) => {
    const contexts = FORM.contexts.map((row, index) => ({ ...row, weight: weights[index] }));
    return Object.values(previewTerms({ ...FORM, contexts }).context_probs);
  };
  assert.deepEqual(probs("1e308", "1e308"), [0.5, 0.5]);
  assert.deepEqual(probs("5e-324", "0"), [1, 0]);
  assert.deepEqual(probs("1e-320", "1e308"), [0, 1]);
});

test("repeated names are rejected by kind", () => {
  rejectDuplicateNames(FORM);
  const contexts = [...FORM.contexts, { name: "new", weight: "1" }];
  assert.throws(() => rejectDuplicateNames({ ...FORM, contexts }), {
    message: "Two contexts are called “\u2068new\u2069”; give them different names.",
  });
  const actions = [...FORM.actions, { name: "call", cost: "1", reserve: "" }];
  assert.throws(() => rejectDuplicateNames({ ...FORM, actions }), { message: /Two actions are called “\u2068call\u2069”/ });
});

test("a pace is sent with the caps that are filled in", () => {
  assert.equal(campaignTerms({ ...FORM, pace: "even" }).pace, "even");
  const caps = { hour: "", day: "500", week: "", zone: "Europe/Berlin" };
  assert.deepEqual(sent(campaignTerms({ ...FORM, pace: "caps", caps })).pace, { day: 500, zone: "Europe/Berlin" });
  assert.equal("pace" in sent(campaignTerms(FORM)), false);
});

test("a default action is sent if there is one", () => {
  assert.equal(campaignTerms({ ...FORM, default: "mail" }).default, "mail");
  assert.equal("default" in sent(campaignTerms(FORM)), false);
});

test("scores and features take the place of contexts, and of the terms that go with these", () => {
  const typed = { ...FORM, after: "week-46", newContexts: true, skipping: "learned", contexts: [{ name: "" }, { name: "" }] };
  const scores = sent(campaignTerms({ ...typed, kind: "scores" }));
  assert.equal(scores.scores, true);
  for (const term of ["contexts", "policy", "after", "memory", "prior", "default_rewards", "new_contexts", "features"]) {
    assert.equal(term in scores, false, term);
  }
  const features = sent(campaignTerms({ ...typed, kind: "features", features: ["chars", "digits"] }));
  assert.deepEqual([features.features, features.scores], [["chars", "digits"], undefined]);
  assert.deepEqual(sent(previewTerms({ ...typed, kind: "scores" })), scores);
  rejectDuplicateNames({ ...typed, kind: "scores" });
});

test("scores with a trust are recalibrated", () => {
  const { policy } = sent(campaignTerms({ ...FORM, kind: "scores", trust: "20" }));
  assert.deepEqual(policy.rewards, { kind: "GivenScores", trust: 20 });
});
