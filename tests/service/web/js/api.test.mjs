import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { call, campaignPath, fetchFragment } from "../../../../src/almoner/service/web/static/api.mjs";

let requests = [];
let redirects = [];

function respond(status, body, { redirected = false } = {}) {
  globalThis.fetch = async (path, options) => {
    requests.push({ path, ...options });
    return {
      status,
      redirected,
      ok: status < 400,
      text: async () => body,
      json: async () => JSON.parse(body),
    };
  };
}

beforeEach(() => {
  requests = [];
  redirects = [];
  globalThis.location = { pathname: "/new", assign: (url) => redirects.push(url) };
});

test("a call sends JSON and returns the parsed answer", async () => {
  respond(200, '{"name": "spring"}');
  assert.deepEqual(await call("POST", "/api/campaigns", { budget: 5 }), { name: "spring" });
  assert.deepEqual(requests, [
    {
      path: "/api/campaigns",
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"budget":5}',
    },
  ]);
});

test("a call without a body sends none, and an empty answer is null", async () => {
  respond(200, "");
  assert.equal(await call("POST", "/api/campaigns/spring/pause"), null);
  assert.deepEqual([requests[0].headers, requests[0].body], [{}, undefined]);
});

test("a fragment is returned as text", async () => {
  respond(200, "<p>plan</p>");
  assert.equal(await fetchFragment("/new/plan", {}), "<p>plan</p>");
});

test("an error has the message of the answer", async () => {
  respond(422, '{"error": "invalid_terms", "message": "budget must be at least 0"}');
  await assert.rejects(call("POST", "/api/campaigns", {}), { message: "budget must be at least 0" });
});

test("an answer that is no JSON is named by its status", async () => {
  respond(502, "<h1>Bad gateway</h1>");
  await assert.rejects(fetchFragment("/new/plan", {}), { message: /answered 502; try again/ });
});

test("a service that cannot be reached is named as such", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("connection refused");
  };
  await assert.rejects(call("GET", "/api/campaigns"), { message: /does not answer/ });
});

test("an ended session leads to the sign-in form and back", async () => {
  respond(401, '{"message": "this key is not valid"}');
  await assert.rejects(call("POST", "/api/campaigns", {}), { message: "this key is not valid" });
  respond(200, "<h1>Sign in</h1>", { redirected: true });
  await assert.rejects(fetchFragment("/new/plan", {}), { message: /sign in again/ });
  assert.deepEqual(redirects, ["/sign-in?next=%2Fnew", "/sign-in?next=%2Fnew"]);
});

test("names are escaped in paths", () => {
  assert.equal(campaignPath("a b?c", "/pause"), "/api/campaigns/a%20b%3Fc/pause");
});
