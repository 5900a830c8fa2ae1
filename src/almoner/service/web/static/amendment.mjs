// Request body of an amendment from the values of the edit form: only what was changed.
//
// Every value has the text or state now and the one it was shown with.

import { isolated } from "./formatting.mjs";

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
  return {
    budget: number(budget),
    horizon: number(horizon),
    closes: changed(closes) ? new Date(closes.now).toISOString() : undefined,
    arrivals: number(arrivals),
    costs: named(actions.filter(({ cost }) => changed(cost)), ({ cost }) => Number(cost.now)),
    stop: list(actions.filter(({ active }) => active.was && !active.now)),
    restart: list(actions.filter(({ active }) => !active.was && active.now)),
    add: named(added, ({ cost, reserve }) =>
      reserve === "" ? Number(cost) : { cost: Number(cost), reserve: Number(reserve) },
    ),
    note: note === "" ? undefined : note,
  };
}
