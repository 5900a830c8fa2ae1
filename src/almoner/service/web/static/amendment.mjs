// Request body of an amendment from the values of the edit form: only what was changed.
//
// Every value has the text or state now and the one it was shown with. Costs and reserves by context
// have no field; they are sent again as they are.

import { actionTerms } from "./action_terms.mjs";
import { isolated } from "./formatting.mjs";

const OTHER_TERMS = ["reserve", "expires", "on_expiry", "learn_cost"];

export function amendment({ budget, horizon, closes, arrivals, actions, added, note }) {
  const changed = ({ now, was }) => now !== was && now !== "";
  const number = (value) => (changed(value) ? Number(value.now) : undefined);
  const named = (rows, entry) => (rows.length ? Object.fromEntries(rows.map((row) => [row.name, entry(row)])) : undefined);
  const list = (rows) => (rows.length ? rows.map((row) => row.name) : undefined);
  const names = [...actions, ...added].map((action) => action.name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new Error(`Two actions are called “${isolated(repeated)}”; give them different names.`);
  }
  const others = ({ terms }) => OTHER_TERMS.some((term) => terms[term].now !== terms[term].was);
  return {
    budget: number(budget),
    horizon: number(horizon),
    closes: changed(closes) ? new Date(closes.now).toISOString() : undefined,
    arrivals: number(arrivals),
    costs: named(actions.filter((action) => changed(action.terms.cost) || others(action)), changedTerms),
    stop: list(actions.filter(({ active }) => active.was && !active.now)),
    restart: list(actions.filter(({ active }) => !active.was && active.now)),
    add: named(added, actionTerms),
    note: note === "" ? undefined : note,
  };
}

// A cost alone leaves the other terms as they are, and a reserve that was the cost follows it.
function changedTerms({ terms, byContext }) {
  const now = Object.fromEntries(Object.entries(terms).map(([term, value]) => [term, value.now]));
  const same = OTHER_TERMS.every((term) => terms[term].now === terms[term].was);
  if (same && now.reserve === "") return Number(now.cost);
  const values = actionTerms({ ...now, ...byContext });
  return typeof values === "number" ? { cost: values } : values;
}
