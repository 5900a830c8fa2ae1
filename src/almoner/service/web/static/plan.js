// A plan before it starts, as figures and as a bar for each context.

import { figure, percent } from "./figures.js";

const COLOURS = 6; // as many as the style sheet has
const UNLEARNED = "What doing nothing brings is yet to be learned; here it is as you guess.";

// What doing nothing brings is known, guessed, or nothing: a number for each context, or null.
export function planView(plan, { default_rewards: known, default_means: guessed }) {
  const defaults = new Map(Object.entries(guessed ?? known ?? {}));
  const actions = plan.contexts[0].actions.map(({ action }) => action);
  return [
    make("p", {}, sentence(plan, defaults)),
    ...unaffordable(plan).map((said) => make("p", { class: "notice" }, said)),
    ...(guessed ? [make("p", { class: "hint" }, UNLEARNED)] : []),
    make(
      "dl",
      { class: "facts" },
      ...[
        ["Expected reward", figure(plan.total), `from ${figure(plan.arrivals)} arrivals`],
        ["Expected spend", figure(plan.spend), `of ${figure(plan.budget)}`],
        ["Budget per arrival", figure(plan.ratio), boundaries(plan)],
        ["Price", figure(plan.price), "reward per unit of money"],
      ].map(([term, value, note]) =>
        make("div", {}, make("dt", {}, term), make("dd", {}, value), make("dd", { class: "note" }, note)),
      ),
    ),
    make("h3", {}, "Who would be served"),
    make(
      "ul",
      { class: "legend" },
      ...actions.map((action, place) => make("li", {}, dot(`fill-action-${place % COLOURS}`), action)),
      make("li", {}, dot("fill-left"), "skipped"),
    ),
    make("ul", { class: "served" }, ...plan.contexts.map(contextRow)),
  ];
}

function sentence(plan, defaults) {
  if (nothingAffordable(plan)) return "Nobody would be served: the budget is less than any action reserves.";
  if (!plan.boundaries.length) return "Nobody would be served: by your guesses, no action is worth its cost.";
  if (plan.price === 0) {
    return unaffordable(plan).length
      ? "The budget is enough for everything worth doing that it can ever pay for."
      : "The budget is enough for everything worth doing; more of it would bring nothing.";
  }
  const coming = plan.contexts.filter(({ share }) => share > 0);
  const worthwhile = coming.filter(({ context, actions }) =>
    actions.some(({ mean }) => mean > (defaults.get(context) ?? 0)),
  );
  const turned = worthwhile.filter(({ served }) => served < 1).map(({ context }) => context);
  const everybody = worthwhile.length < coming.length ? "everybody worth serving" : "everybody";
  return turned.length
    ? `The budget does not reach ${everybody}: ${turned.join(", ")} would be served in part or not at all.`
    : `The budget reaches ${everybody}, though not always with what brings most.`;
}

// What reserves more than the whole budget, wherever it is taken, was most often meant in another unit.
function unaffordable({ budget, contexts }) {
  const least = new Map();
  for (const { action, reserve } of contexts.flatMap(({ actions }) => actions)) {
    least.set(action, Math.min(reserve, least.get(action) ?? reserve));
  }
  return [...least]
    .filter(([, reserve]) => reserve > budget)
    .map(
      ([action, reserve]) =>
        `“${action}” can never be taken: it reserves ${figure(reserve)}, and the budget is ${figure(budget)}.`,
    );
}

function nothingAffordable({ budget, contexts }) {
  return contexts.every(({ actions }) => actions.every(({ reserve }) => reserve > budget));
}

function boundaries(plan) {
  const { boundaries: jumps } = plan;
  if (nothingAffordable(plan)) return "no action can be paid for";
  return jumps.length ? `the plan changes at ${jumps.map(figure).join(", ")}` : "nothing is worth its cost";
}

function contextRow({ context, share, served, actions }) {
  const bar = draw("svg", { class: "share-bar", "aria-hidden": "true" });
  let start = 0;
  actions.forEach(({ planned }, place) => {
    bar.append(
      draw("rect", {
        class: `fill-action-${place % COLOURS}`,
        x: `${100 * start}%`,
        width: `${100 * planned}%`,
        height: "100%",
      }),
    );
    start += planned;
  });
  const parts = actions
    .filter(({ planned }) => planned > 0)
    .map(({ action, planned }) => `${action} ${percent(planned)}`);
  return make(
    "li",
    {},
    make("span", { class: "name" }, `${context} `, make("span", { class: "of" }, share ? `${percent(share)} of arrivals` : "never comes, as you guess")),
    make("span", { class: "value" }, parts.join(", ") || "skipped"),
    bar,
  );
}

function dot(fill) {
  const picture = draw("svg", { class: "dot", "aria-hidden": "true" });
  picture.append(draw("rect", { class: fill, width: "100%", height: "100%" }));
  return picture;
}

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function draw(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
