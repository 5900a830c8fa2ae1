// Request bodies from the values of the create form.
//
// The values of text and number fields are strings as typed; rows of contexts have name and weight,
// rows of actions have name, cost, reserve, expires, on_expiry and learn_cost, and tables of rewards are arrays by context.

import { actionTerms } from "./action_terms.mjs";
import { isolated } from "./formatting.mjs";

// Terms of the campaign: the body of POST /api/campaigns.
export function campaignTerms(form) {
  return {
    name: form.name,
    ...arrivals(form),
    actions: Object.fromEntries(form.actions.map((action) => [action.name, actionTerms(action)])),
    horizon: horizon(form),
    budget: Number(form.budget),
    unit: optionalNumber(form.unit),
    reward_window: form.rewardWindow || undefined,
    learn_cost: form.learnCost || undefined,
    risk: optionalNumber(form.risk),
    seed: optionalNumber(form.seed),
    currency: form.currency === "" ? undefined : form.currency,
    reward_range: rewardRange(form),
    holdout: optionalNumber(form.holdout),
    explore: optionalNumber(form.explore),
    per_person: perPerson(form),
    pace: pace(form),
    default: form.default || undefined,
  };
}

// What is known of each arrival, and the terms that go with it: those of contexts have no meaning on
// rows of scores or features, nor have their fields, which are hidden then.
function arrivals(form) {
  if (form.kind === "scores") return { scores: true, policy: scorePolicy(form.trust) };
  if (form.kind === "features") return { features: form.features, default_rewards: learnedSkips(form) };
  return {
    contexts: form.contexts.map(({ name }) => name),
    policy: cautious(form.policy, form.caution),
    default_rewards: defaultRewards(form),
    new_contexts: form.newContexts,
    after: form.after === "" ? undefined : form.after,
    memory: form.after === "" ? undefined : optionalNumber(form.memory),
    prior: prior(form),
  };
}

// The default policy as a call, where it has a caution; other policies have none.
function cautious(policy, caution) {
  return policy === "thrifty" && caution !== "" ? `${policy}(caution=${Number(caution)})` : policy;
}

// Scores as given by default; with a trust, they count for so many rewards of each action.
function scorePolicy(trust) {
  if (trust === "") return undefined;
  return {
    rewards: { kind: "GivenScores", trust: Number(trust) },
    contexts: { kind: "Market" },
    allocation: { kind: "Priced" },
  };
}

// Terms with the guessed shares of the contexts: the body of POST /new/plan and /api/plan.
export function previewTerms(form) {
  if (form.kind !== "contexts") return campaignTerms(form);
  return {
    ...campaignTerms(form),
    context_probs: byContext(form, shares(form.contexts.map(({ weight }) => Number(weight)))),
  };
}

// The guesses that were typed, and the number of rewards they count for; undefined without any.
function prior(form) {
  const means = {};
  form.contexts.forEach(({ name }, index) => {
    const row = form.guesses[index].map((mean, column) => [form.actions[column].name, mean]);
    if (form.skipping === "learned") row.push(["skip", form.defaultGuesses[index]]);
    const typed = row.filter(([, mean]) => mean !== "").map(([action, mean]) => [action, Number(mean)]);
    if (typed.length > 0) means[name] = Object.fromEntries(typed);
  });
  return Object.keys(means).length === 0 ? undefined : { means, weight: Number(form.weight) };
}

// An end left empty is that of rewards from 0 to 1.
function rewardRange({ rewardLow: low, rewardHigh: high }) {
  return low === "" && high === "" ? undefined : [Number(low || 0), Number(high || 1)];
}

// Reject repeated names: objects keyed by name would silently merge their rows.
export function rejectDuplicateNames(form) {
  const rows = form.kind === "contexts" ? form.contexts : [];
  for (const [kind, named] of [["context", rows], ["action", form.actions]]) {
    const names = named.map(({ name }) => name);
    const repeated = names.find((name, index) => names.indexOf(name) !== index);
    if (repeated !== undefined) {
      throw new Error(`Two ${kind}s are called “${isolated(repeated)}”; give them different names.`);
    }
  }
}

// Divided by the largest weight first: the sum of two huge ones would be infinite.
function shares(weights) {
  const largest = Math.max(...weights);
  if (largest === 0) throw new Error("“How often” must be above 0 for one context at least.");
  const relative = weights.map((weight) => weight / largest);
  const total = relative.reduce((sum, weight) => sum + weight, 0);
  return relative.map((weight) => weight / total);
}

function horizon({ ends, horizon: arrivals, closes, expected }) {
  if (ends === "arrivals") return Number(arrivals);
  return { at: new Date(closes).toISOString(), arrivals: Number(expected) };
}

function pace(form) {
  if (form.pace !== "caps") return form.pace === "even" ? "even" : undefined;
  const { hour, day, week, zone } = form.caps;
  return {
    hour: optionalNumber(hour),
    day: optionalNumber(day),
    week: optionalNumber(week),
    zone: zone || undefined,
  };
}

function defaultRewards(form) {
  if (form.skipping === "known") return byContext(form, form.defaults.map(Number));
  return learnedSkips(form) ?? null;
}

function learnedSkips({ skipping }) {
  return skipping === "learned" ? "learned" : undefined;
}

function byContext({ contexts }, values) {
  return Object.fromEntries(contexts.map(({ name }, index) => [name, values[index]]));
}

// A limit for each person, if a number of actions is given.
function perPerson({ personActions, personEvery }) {
  if (personActions === "") return undefined;
  return { actions: Number(personActions), every: personEvery.trim() };
}

// An empty field is undefined, which JSON leaves out.
function optionalNumber(value) {
  return value === "" ? undefined : Number(value);
}
