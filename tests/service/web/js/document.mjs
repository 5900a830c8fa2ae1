// A minimal DOM for tests in node: elements with attributes, text nodes, and moves of children.

class TestNode {
  parentNode = null;
  childNodes = [];

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get nextSibling() {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  remove() {
    const siblings = this.parentNode.childNodes;
    siblings.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  }

  insertBefore(node, reference) {
    if (node.parentNode) node.remove();
    const index = reference === null ? this.childNodes.length : this.childNodes.indexOf(reference);
    this.childNodes.splice(index, 0, node);
    node.parentNode = this;
  }
}

class TestText extends TestNode {
  nodeType = 3;
  nodeName = "#text";

  constructor(data) {
    super();
    this.data = data;
  }

  toString() {
    return this.data;
  }
}

class TestElement extends TestNode {
  nodeType = 1;
  changes = 0; // of attributes

  constructor(nodeName, attributes) {
    super();
    this.nodeName = nodeName;
    this.map = new Map(Object.entries(attributes));
  }

  get attributes() {
    return [...this.map].map(([name, value]) => ({ name, value }));
  }

  get children() {
    return this.childNodes.filter((child) => child.nodeType === 1);
  }

  get id() {
    return this.getAttribute("id") ?? "";
  }

  get classList() {
    const names = (this.getAttribute("class") ?? "").split(" ").filter(Boolean);
    return {
      contains: (name) => names.includes(name),
      add: (name) => this.setAttribute("class", [...new Set([...names, name])].join(" ")),
    };
  }

  getAttribute(name) {
    return this.map.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.map.has(name);
  }

  setAttribute(name, value) {
    this.changes += 1;
    this.map.set(name, value);
  }

  removeAttribute(name) {
    this.changes += 1;
    this.map.delete(name);
  }

  toString() {
    const attributes = this.attributes.map(({ name, value }) => ` ${name}=${value}`).join("");
    return `<${this.nodeName}${attributes}>${this.childNodes.join("")}</${this.nodeName}>`;
  }
}

// Return an element; children are elements or strings.
export function element(name, attributes, ...children) {
  const made = new TestElement(name, attributes);
  for (const child of children) {
    made.insertBefore(typeof child === "string" ? new TestText(child) : child, null);
  }
  return made;
}

function copy(node) {
  if (node.nodeType === 3) return new TestText(node.data);
  return element(node.nodeName, Object.fromEntries(node.map), ...node.childNodes.map(copy));
}

globalThis.Node = { ELEMENT_NODE: 1 };
globalThis.document = { importNode: copy };
