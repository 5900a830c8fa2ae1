// Make one piece of a document like another, touching only what differs, so that focus, selection
// and open details stay. Elements with an id are matched by it; data-keep is left as it is.

export function morph(have, want) {
  for (const { name, value } of want.attributes) {
    if (have.getAttribute(name) !== value) have.setAttribute(name, value);
  }
  for (const { name } of [...have.attributes]) {
    const ours = name === "open" || name === "class" && have.classList.contains("fresh");
    if (!ours && !want.hasAttribute(name)) have.removeAttribute(name);
  }
  let place = have.firstChild;
  for (const wanted of [...want.childNodes]) {
    const match = counterpart(have, place, wanted);
    if (!match) {
      const added = document.importNode(wanted, true);
      have.insertBefore(added, place);
      if (added.id) added.classList.add("fresh");
      continue;
    }
    if (match === place) place = place.nextSibling;
    else have.insertBefore(match, place);
    if (match.nodeType !== Node.ELEMENT_NODE) {
      if (match.data !== wanted.data) match.data = wanted.data;
    } else if (!match.hasAttribute("data-keep")) {
      morph(match, wanted);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function counterpart(parent, place, wanted) {
  if (wanted.id) {
    return [...parent.children].find((child) => child.id === wanted.id);
  }
  return place && !place.id && place.nodeName === wanted.nodeName ? place : null;
}
