// Requests to the service: failures become errors with one sentence as their message.

export async function call(method, path, body) {
  const response = await request(method, path, body);
  return response.json().catch(() => null);
}

export async function fetchFragment(path, body) {
  const response = await request("POST", path, body);
  return response.text();
}

export function campaignPath(name, rest = "") {
  return `/api/campaigns/${encodeURIComponent(name)}${rest}`;
}

async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("The service does not answer; see whether it is running, and try again.");
  }
  if (response.status === 401 || response.redirected) {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
  }
  if (response.redirected) throw new Error("The session has ended; sign in again.");
  if (!response.ok) {
    const answer = await response.json().catch(() => null);
    throw new Error(answer?.message ?? `The service answered ${response.status}; try again.`);
  }
  return response;
}
