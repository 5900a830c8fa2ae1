import assert from "node:assert/strict";
import { test } from "node:test";

import { morph } from "../../../../src/almoner/service/web/static/morph.mjs";
import { element } from "./document.mjs";

test("texts and attributes become those of the target", () => {
  const current = element("p", { title: "old", lang: "en" }, "1 of 2");
  const text = current.firstChild;
  morph(current, element("p", { title: "new" }, "2 of 2"));
  assert.equal(String(current), "<p title=new>2 of 2</p>");
  assert.equal(current.firstChild, text, "the node itself stays");
});

test("equal trees are not touched", () => {
  const tree = () => element("div", { class: "a" }, element("p", { id: "x" }, "text"));
  const current = tree();
  morph(current, tree());
  assert.equal(String(current), String(tree()));
  assert.deepEqual([current.changes, current.children[0].changes], [0, 0]);
});

test("children with an id are moved, and keep their identity", () => {
  const first = element("li", { id: "1" }, "one");
  const second = element("li", { id: "2" }, "two");
  const current = element("ul", {}, first, second);
  morph(current, element("ul", {}, element("li", { id: "2" }, "two"), element("li", { id: "1" }, "one")));
  assert.deepEqual(current.children, [second, first]);
});

test("a new child with an id is marked as fresh, one without is not", () => {
  const current = element("ul", {}, element("li", { id: "1" }));
  morph(current, element("ul", {}, element("li", { id: "2" }), element("b", {}), element("li", { id: "1" })));
  assert.equal(String(current), "<ul><li id=2 class=fresh></li><b></b><li id=1></li></ul>");
});

test("the mark and opened details survive the next update", () => {
  const current = element("ul", {}, element("li", { id: "2", class: "fresh" }), element("details", { open: "" }));
  morph(current, element("ul", {}, element("li", { id: "2" }), element("details", {})));
  assert.equal(String(current), "<ul><li id=2 class=fresh></li><details open=></details></ul>");
});

test("surplus children are removed", () => {
  const current = element("ul", {}, element("li", { id: "1" }), element("li", { id: "2" }), "end");
  morph(current, element("ul", {}, element("li", { id: "2" })));
  assert.equal(String(current), "<ul><li id=2></li></ul>");
});

test("elements with data-keep are left as they are", () => {
  const current = element("div", {}, element("p", { "data-keep": "" }, "typed"));
  morph(current, element("div", {}, element("p", { "data-keep": "" }, "rendered")));
  assert.equal(String(current), "<div><p data-keep=>typed</p></div>");
});

test("an element of another kind is replaced", () => {
  const current = element("div", {}, element("p", {}, "none yet"));
  morph(current, element("div", {}, element("table", {}, "rows")));
  assert.equal(String(current), "<div><table>rows</table></div>");
});
