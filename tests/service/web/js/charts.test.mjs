import assert from "node:assert/strict";
import { test } from "node:test";

import { chartOf } from "../../../../src/almoner/service/web/static/charts.mjs";

const DATA = {
  horizon: 100,
  budget: 50,
  promised: 0.1,
  start: 0.5,
  boundaries: [0.2, 0.6, 9],
  arrivals: [0, 10, 40],
  spent: [0, 4, 18],
  committed: [0, 6, 22],
  reward: [0, 1, 3],
  ratio: [0.5, 0.49, 0.47],
};

test("spend: straight line to the horizon, measured series up to now", () => {
  const chart = chartOf("spend", DATA, { soFar: false });
  assert.deepEqual(chart.data, [
    [0, 10, 40, 100],
    [0, 6, 22, null],
    [0, 4, 18, null],
    [0, 5, 20, 50],
  ]);
  assert.deepEqual([chart.now, chart.top], [2, 53]);
});

test("spend up to now only: the axis ends at now", () => {
  const chart = chartOf("spend", DATA, { soFar: true });
  assert.deepEqual(chart.data[0], [0, 10, 40]);
  assert.equal(chart.now, 2);
  assert.ok(Math.abs(chart.top - 22 * 1.06) < 1e-12);
});

test("arrivals after the horizon do not raise the straight line", () => {
  const late = { ...DATA, arrivals: [0, 10, 140] };
  const chart = chartOf("spend", late, { soFar: false });
  assert.deepEqual(chart.data[0], [0, 10, 140]);
  assert.deepEqual(chart.data[3], [0, 5, 50]);
});

test("reward: the promise grows by the same for each arrival up to the horizon", () => {
  const chart = chartOf("reward", DATA, { soFar: false });
  assert.deepEqual(chart.data.slice(1), [
    [0, 1, 3, null],
    [0, 1, 4, 10],
  ]);
});

test("ratio: boundaries far above the ratio are not marked", () => {
  const chart = chartOf("ratio", DATA, { soFar: false });
  assert.deepEqual(chart.marks, [0.2, 0.6]);
  assert.ok(Math.abs(chart.top - 0.6 * 1.12) < 1e-12);
});

test("ratio: a jump near the horizon does not stretch the axis", () => {
  const late = { ...DATA, arrivals: [0, 40, 99], ratio: [0.5, 0.47, 20], boundaries: [] };
  assert.ok(Math.abs(chartOf("ratio", late, { soFar: false }).top - 0.5 * 1.12) < 1e-12);
});

test("a campaign without budget still has an axis", () => {
  const nothing = { ...DATA, budget: 0, start: 0, boundaries: [], ratio: [0], arrivals: [0], spent: [0], committed: [0], reward: [0] };
  for (const name of ["spend", "ratio"]) assert.equal(chartOf(name, nothing, { soFar: true }).top, 1);
});
