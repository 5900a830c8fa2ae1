// A plan before it starts, as figures and as a bar for each context.

import { figure, percent } from "./figures.js";

const COLOURS = 6; // as many as the style sheet has

export function planView(plan) {
  const actions = plan.contexts[0].actions.map(({ action }) => action);
  return [
    make("p", {}, sentence(plan)),
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

function sentence(plan) {
  if (plan.price === 0) {
    return "The budget is enough for everything worth doing; more of it would bring nothing.";
  }
  const turned = plan.contexts.filter(({ served }) => served < 1).map(({ context }) => context);
  return turned.length
    ? `The budget does not reach everybody: ${turned.join(", ")} would be served in part or not at all.`
    : "Everybody would be served, though not always with what brings most.";
}

function boundaries({ boundaries: jumps }) {
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
    make("span", { class: "name" }, `${context} `, make("span", { class: "of" }, `${percent(share)} of arrivals`)),
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
