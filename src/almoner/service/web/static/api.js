// Calls to the service's own API; what goes wrong becomes one sentence.

export async function call(method, path, body) {
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
  if (response.status === 401) {
    location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    throw new Error(answer?.message ?? `The service answered ${response.status}; try again.`);
  }
  return answer;
}

export function campaignPath(name, rest = "") {
  return `/api/campaigns/${encodeURIComponent(name)}${rest}`;
}

// Say what happened, for eyes and screen readers alike.
export function say(sentence, { done = false } = {}) {
  const place = document.querySelector("#message");
  place.classList.toggle("done", done);
  if (place.textContent !== sentence) place.textContent = sentence;
}
