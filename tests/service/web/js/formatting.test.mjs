import assert from "node:assert/strict";
import { test } from "node:test";

import { figure, isolated, visible } from "../../../../src/almoner/service/web/static/formatting.mjs";
import { localTimes } from "../../../../src/almoner/service/web/static/times.mjs";

test("numbers have three significant digits, or are whole from 100 on", () => {
  const values = [0, 0.5, 0.21349, 12.345, 230, 1234.5, 60000, -0.05];
  const texts = ["0", "0.5", "0.213", "12.3", "230", "1,235", "60,000", "-0.05"];
  assert.deepEqual(values.map(figure), texts);
});

test("times are written in the reader's time zone, in full in the title", () => {
  const time = { dateTime: "2026-03-01T12:30:00+00:00", dataset: { form: "day" } };
  localTimes({ querySelectorAll: () => [time] });
  const options = { dateStyle: "medium", timeStyle: "short" };
  const date = new Date(Date.UTC(2026, 2, 1, 12, 30));
  assert.equal(time.textContent, new Intl.DateTimeFormat(undefined, options).format(date));
  assert.equal(time.title, date.toString());
});

test("control characters are written as escapes, letters and joiners are not", () => {
  assert.equal(visible("\u202eevil\u2069\n"), "\\u202eevil\\u2069\\u000a");
  assert.equal(visible("שלום 👩\u200d🚀"), "שלום 👩\u200d🚀");
});

test("a name in a sentence keeps its text direction to itself", () => {
  assert.equal(isolated("שלום"), "\u2068שלום\u2069");
  assert.equal(isolated("\u2069\u202eevil"), "\u2068\\u2069\\u202eevil\u2069");
});
