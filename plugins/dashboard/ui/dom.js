// The template runtime of the dashboard. `html` keeps the literal parts of a template apart from its
// values: the parts are parsed once per place in the code, values only ever become text, attributes,
// properties or listeners. So nothing that came from a log can become markup.
//
//   html`<a href=${url} @click=${open} ?hidden=${!url}>${text}</a>`
//
// Holes: between nodes (text, node, template, list), or a whole attribute value: `name=`, `?name=`
// (present or not), `.name=` (property), `@name=` (listener), `vars=` (CSS custom properties).

import { isolated, shownIn, turnsIn, visible } from "./text.js";

const HOLE = "data-hole-";
const MARK = "hole:";
// SECURITY: the only producer of trusted markup; it is given literal template parts and nothing else.
const policy = globalThis.trustedTypes?.createPolicy("snaglist", { createHTML: (text) => text });
const blueprints = new WeakMap();

class Template {
  constructor(strings, values) {
    Object.assign(this, { strings, values });
  }
}

class List {
  constructor(entries) {
    Object.assign(this, { entries });
  }
}

export const html = (strings, ...values) => new Template(strings, values);

/** A list whose items keep their nodes by key when the order changes. */
export const keyed = (items, key, view) => new List(Array.from(items, (item, at) => [key(item, at), view(item, at)]));

/** Show a value in an element; the next call updates it in place. */
export function render(value, container) {
  if (!container.renderSlot) {
    const anchor = document.createTextNode("");
    container.replaceChildren(anchor);
    container.renderSlot = new Slot(anchor);
  }
  container.renderSlot.set(value);
}

function blueprint(strings) {
  const known = blueprints.get(strings);
  if (known) return known;
  let source = "";
  let inTag = false;
  let quote = "";
  strings.forEach((part, index) => {
    if (inTag && index > 0 && !(quote ? part.startsWith(quote) : /^[\s/>]/.test(part))) throw misplaced(source);
    source += quote ? part.slice(1) : part;
    if (index === strings.length - 1) return;
    if (/[<>]/.test(part)) inTag = part.lastIndexOf("<") > part.lastIndexOf(">");
    quote = "";
    if (!inTag) return void (source += `<!--${MARK}${index}-->`);
    const attribute = /([@.?]?[\w:-]+)=(["']?)$/.exec(source);
    if (!attribute) throw misplaced(source);
    const name = attribute[1];
    if (/^(on|style$|srcdoc$)/i.test(name)) throw new Error(`"${name}" cannot be set: use @event and vars=`);
    quote = attribute[2];
    source = `${source.slice(0, attribute.index)}${HOLE}${index}="${name}"`;
  });
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(source.trim()) : source.trim();
  const holes = [];
  const walker = walk(template.content);
  for (let at = 0; walker.nextNode(); at += 1) {
    const node = walker.currentNode;
    if (node.nodeType === Node.COMMENT_NODE) {
      if (node.data.startsWith(MARK)) holes.push({ at, index: Number(node.data.slice(MARK.length)), name: null });
    } else for (const { name, value } of [...node.attributes]) {
      if (!name.startsWith(HOLE)) continue;
      holes.push({ at, index: Number(name.slice(HOLE.length)), name: value });
      node.removeAttribute(name);
    }
  }
  if (holes.length !== strings.length - 1) throw new Error("a value stands where markup is not read, as in <textarea>");
  blueprints.set(strings, { content: template.content, holes });
  return blueprints.get(strings);
}

const misplaced = (source) => new Error(`a value in a tag must be a whole attribute value: …${source.slice(-40)}`);
const walk = (root) => document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT);

/** One template put into the page: the nodes from `first` to `last` and the holes in them. */
class Instance {
  constructor(template) {
    const { content, holes } = blueprint(template.strings);
    this.strings = template.strings;
    // The clone still belongs to the inert document: custom elements must not wake up and change the node order.
    this.fragment = content.cloneNode(true);
    const walker = walk(this.fragment);
    let at = -1;
    const found = holes.map((hole) => {
      for (; at < hole.at; at += 1) walker.nextNode();
      return [hole, walker.currentNode];
    });
    this.parts = found.map(([hole, node]) => {
      if (hole.name !== null) return new Attribute(node, hole);
      const anchor = document.createTextNode("");
      node.replaceWith(anchor);
      return Object.assign(new Slot(anchor), { index: hole.index });
    });
    // Children first: a <select> can only take a value that its options offer.
    this.parts.sort((a, b) => (b instanceof Slot) - (a instanceof Slot));
    // A hole may be the first node: what it shows must not move the start of this instance.
    if (!(this.fragment.firstChild instanceof Element)) this.fragment.prepend(document.createComment(""));
    this.first = this.fragment.firstChild;
    this.last = this.fragment.lastChild;
  }

  place(parent, before) {
    // moveBefore keeps focus and running transitions where the browser has it.
    const move = !this.fragment && parent.moveBefore && parent.isConnected ? "moveBefore" : "insertBefore";
    for (const node of this.nodes()) parent[move](node, before);
    this.fragment = null;
  }

  update(values) {
    for (const part of this.parts) part.set(values[part.index]);
  }

  nodes() {
    const nodes = [this.first];
    while (nodes.at(-1) !== this.last) nodes.push(nodes.at(-1).nextSibling);
    return nodes;
  }
}

class Attribute {
  constructor(element, { name, index }) {
    Object.assign(this, { element, index });
    this.sign = /^[@.?]/.test(name) ? name[0] : "";
    this.name = this.sign ? name.slice(1) : name;
    if (this.sign === "@") element.addEventListener(this.name, this);
  }

  handleEvent(event) {
    return this.value?.call(this.element, event);
  }

  set(value) {
    if (value === this.value) return;
    this.value = value;
    if (this.sign === "@") return;
    if (this.sign === ".") this.element[this.name] = value;
    else if (this.sign === "?") this.element.toggleAttribute(this.name, Boolean(value));
    else if (this.name === "vars") {
      for (const [name, text] of Object.entries(value ?? {})) this.element.style.setProperty(name, text);
    } else if (value === null || value === undefined || value === false) this.element.removeAttribute(this.name);
    else this.element.setAttribute(this.name, value === true ? "" : shownIn(this.name, value));
  }
}

const one = (value) => (value instanceof Template ? value : html`${value}`);

/** A hole between nodes. `anchor` is a text node: it shows plain values itself, everything else stands before it. */
class Slot {
  constructor(anchor) {
    this.anchor = anchor;
    this.items = new Map();
  }

  set(value) {
    const plain = !(value instanceof Template || value instanceof List || value instanceof Node || Array.isArray(value));
    let text = plain && value !== null && value !== undefined && typeof value !== "boolean" ? visible(String(value)) : "";
    if (turnsIn(text, this.anchor.parentNode)) [value, text] = [isolated(text, this.node), ""];
    if (this.node && this.node !== value && this.node.nextSibling === this.anchor) this.node.remove();
    this.node = value instanceof Node ? value : null;
    let entries = value instanceof List ? value.entries : [];
    if (Array.isArray(value)) entries = value.map((item, at) => [at, item]);
    else if (value instanceof Template) entries = [[0, value]];
    this.arrange(entries);
    if (this.node && this.node.nextSibling !== this.anchor) this.anchor.before(this.node);
    if (this.anchor.data !== text) this.anchor.data = text;
  }

  arrange(entries) {
    const old = this.items;
    const reused = new Set();
    this.items = new Map();
    for (const [key, value] of entries) {
      if (this.items.has(key)) throw new Error(`two items have the key ${String(key)}`);
      const template = one(value);
      const known = old.get(key);
      const instance = known?.strings === template.strings ? known : new Instance(template);
      if (instance === known) reused.add(known);
      this.items.set(key, Object.assign(instance, { values: template.values }));
    }
    for (const instance of old.values()) if (!reused.has(instance)) instance.nodes().forEach((node) => node.remove());
    let cursor = [...old.values()].find((instance) => reused.has(instance))?.first ?? this.anchor;
    for (const instance of this.items.values()) {
      if (instance.first === cursor) cursor = instance.last.nextSibling;
      else instance.place(this.anchor.parentNode, cursor);
      instance.update(instance.values);
    }
  }
}
