// Status message of the page, announced by screen readers.

export function showMessage(sentence, { done = false } = {}) {
  const element = document.querySelector("#message");
  element.classList.toggle("done", done);
  if (element.textContent !== sentence) element.textContent = sentence;
}
