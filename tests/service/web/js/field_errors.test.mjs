// Unit tests of the field that the sentence of an error names.

import assert from "node:assert/strict";
import { test } from "node:test";

import { namedField } from "../../../../src/almoner/service/web/static/field_errors.mjs";

const field = (message) => namedField(message, ["mail", "5 EUR", "boss's"]);

test("sentences on an action name its row and field", () => {
  assert.deepEqual(field("the reserve of 'mail' must be no less than its cost, got 1"), { action: 0, field: "reserve" });
  assert.deepEqual(field("the expiry of '5 EUR' must be a duration"), { action: 1, field: "expires" });
  assert.deepEqual(field(`on_expiry of "boss's" must come with expires`), { action: 2, field: "on_expiry" });
  assert.deepEqual(field("costs must give '5 EUR' no more than its reserve 5"), { action: 1, field: "cost" });
  assert.deepEqual(field("add['mail'].reserve must be a number"), { action: 0, field: "reserve" });
});

test("other sentences name a term of the campaign, or nothing", () => {
  assert.deepEqual(field("reward_window must be a duration"), { term: "reward-window" });
  assert.deepEqual(field("the reserve of 'letter' must be no less"), null);
  assert.deepEqual(field("Two contexts are called “a”; give them different names."), null);
});

test("terms with several fields, or another name in the form, are found too", () => {
  const terms = {
    "the cap of an hour must be a whole number": "cap-hour",
    "the cap of a day must be below 2**53": "cap-day",
    "pace must be 'even' or amounts by period": "cap-day",
    "the zone of pace must be the name of a time zone": "zone",
    "every of per_person must be a duration": "person-every",
    "per_person.every must be a text of 1 to 200 characters": "person-every",
    "per_person.actions must be a whole number": "person-actions",
    "features must be different names, got features=('x', 'x')": "features",
    "features[0] must be a text of 1 to 200 characters, got 201": "features",
    "trust must be greater than 0, got trust=-1": "trust",
    "after has no meaning in a campaign with scores; leave it out": "after",
    "reward_range must be the least and the largest reward": "reward-high",
    "a skip brings 0, and rewards are between 1 and 2": "reward-low",
    "at must be in the future": "closes",
    "horizon.arrivals must be a number of more than 0": "expected",
    "campaign 'spring' was opened with budget=3": "name",
    "campaign 'week-46' has no context and action of this campaign": "after",
    "default goes with neither learn_cost nor risk": "default",
    "default and default_rewards exclude each other": "default",
    "new_contexts=True needs costs": "new-contexts",
    "after must name a campaign of this store": "after",
    "closes cannot be changed": "closes",
  };
  for (const [message, term] of Object.entries(terms)) assert.deepEqual(field(message), { term }, message);
});
