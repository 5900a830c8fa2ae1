// Change an element into another one, touching only what differs, so that focus, selection and open
// details stay. Children with an id are matched by it; elements with data-keep are left as they are.

export function morph(current, target) {
  updateAttributes(current, target);
  let next = current.firstChild; // the first child that is not matched yet
  for (const wanted of [...target.childNodes]) {
    const match = findMatch(current, next, wanted);
    if (!match) {
      const added = document.importNode(wanted, true);
      current.insertBefore(added, next);
      if (added.id) added.classList.add("fresh");
      continue;
    }
    if (match === next) next = next.nextSibling;
    else current.insertBefore(match, next);
    if (match.nodeType !== Node.ELEMENT_NODE) {
      if (match.data !== wanted.data) match.data = wanted.data;
    } else if (!match.hasAttribute("data-keep")) {
      morph(match, wanted);
    }
  }
  while (next) {
    const surplus = next;
    next = next.nextSibling;
    surplus.remove();
  }
}

// The reader opens details, and the class "fresh" is set above: the server knows neither.
function updateAttributes(current, target) {
  for (const { name, value } of target.attributes) {
    if (current.getAttribute(name) !== value) current.setAttribute(name, value);
  }
  for (const { name } of [...current.attributes]) {
    const local = name === "open" || (name === "class" && current.classList.contains("fresh"));
    if (!local && !target.hasAttribute(name)) current.removeAttribute(name);
  }
}

function findMatch(parent, next, wanted) {
  if (wanted.id) return [...parent.children].find((child) => child.id === wanted.id);
  return next && !next.id && next.nodeName === wanted.nodeName ? next : null;
}
