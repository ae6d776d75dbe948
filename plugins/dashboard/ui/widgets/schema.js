// The fields of a form from a JSON Schema: what a type of connector, channel or tracker declares is what people fill in.

const SHORT = 255;
const plain = (name) => (name === "" ? "None" : `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}`);
const labelOf = (name, { title }) => title ?? plain(name);
const wordOf = (value) => (value === null ? "None" : plain(String(value)));
const isJson = (value) => value !== null && typeof value === "object";

/**
 * A property as one that has a value: of `["integer", "null"]`, and of `anyOf` or `oneOf` with null, the other; `true` takes
 * anything. `nullable`: it may be null, `orNull`: beside all that the other one allows.
 */
function present(node) {
  const given = isJson(node) ? node : {};
  const ways = (given.anyOf ?? given.oneOf ?? []).filter(isJson);
  const others = ways.filter(({ type }) => type !== "null");
  const alone = others.length === 1 && !(given.oneOf && "const" in others[0]);
  const one = alone ? { ...others[0], ...given } : given;
  const types = [one.type].flat();
  const left = types.filter((type) => type !== "null");
  const orNull = alone && ways.length > 1;
  return { ...one, type: left.length === 1 ? left[0] : undefined, orNull, nullable: orNull || left.length < types.length };
}

/** Where nothing can be chosen, that is what a field begins with. */
const noneFirst = (found) => found.toSorted(([a], [b]) => (b === null) - (a === null));

/** The words of a choice: `oneOf` with titles, or the bare values; null when it is none. */
function choices(node) {
  const listed = node.oneOf?.map((one) => (one?.type === "null" ? { const: null, ...one } : one));
  if (listed?.length && listed.every((one) => isJson(one) && "const" in one)) return noneFirst(listed.map(({ const: value, title }) => [value, title ?? wordOf(value)]));
  const values = "const" in node ? [node.const] : node.enum;
  if (!values?.length || values.some(isJson)) return null;
  const all = node.orNull && !values.includes(null) ? [null, ...values] : values;
  return noneFirst(all.map((value) => [value, wordOf(value)]));
}

/** A choice; what is chosen is sent as the schema has it, a number as a number. */
function select(found) {
  const values = new Map(found.map(([value]) => [String(value), value]));
  return { type: "select", options: found.map(([value, text]) => [String(value), text]), value: found[0][0], read: (text) => values.get(text) };
}

/** Whether all of a list are texts, one per line; any other list is JSON. */
const isTexts = ({ items = {} }) => items.type === "string" || (items.type === undefined && (items.enum ?? []).every((one) => typeof one === "string"));

function kind(node) {
  const found = choices(node);
  if (found) return select(found);
  if (node.type === "boolean") return { type: "check" };
  if (node.type === "integer" || node.type === "number") return { type: "number", min: node.minimum, max: node.maximum, step: node.type === "integer" ? 1 : "any", half: true };
  if (node.type === "array" && isTexts(node)) return { type: "list" };
  if (node.type === "array") return { type: "json", rows: node["x-rows"] ?? 2, value: "[]", blank: "[]" };
  if (node.type === "object" || node.enum?.some(isJson)) return { type: "json", rows: node["x-rows"] ?? 2 };
  if (node["x-rows"]) return { type: "text", rows: node["x-rows"], max: node.maxLength };
  return { type: node.format === "password" ? "password" : "text", max: node.maxLength, half: node.maxLength <= SHORT };
}

/** A value as the control has it: what is JSON there, as a text. */
const shown = (value, type) => (type === "json" && isJson(value) ? (Array.isArray(value) || Object.keys(value).length ? JSON.stringify(value) : "") : value);

/**
 * Make fields from the properties of a schema; `schemas/dashboard.d.ts` describes the options, docs/plugins.md what of a
 * schema counts.
 */
export function fieldsOf(schema, { prefix = "", type = "", values = {}, stored = () => null, when = () => true } = {}) {
  const nodes = Object.entries(schema.properties ?? {}).map(([name, node]) => [name, present(node)]);
  const properties = Object.fromEntries(nodes);
  const required = new Set(schema.required);
  /** What can only be one of several: by the words over the choice, the names. */
  const groups = Map.groupBy(nodes.filter(([, node]) => node["x-either"]), ([, node]) => node["x-either"]);
  const chooser = (label) => `${prefix}either.${type}.${label}`;
  const chosen = (name, node) => (held) => when(held) && (!node["x-either"] || held[chooser(node["x-either"])] === name);

  const choice = (label, alternatives) => ({
    name: chooser(label), label, type: "select", half: true, unsent: true, when,
    options: alternatives.map(([name, node]) => [name, labelOf(name, node)]),
    value: (alternatives.find(([name]) => values[name] || stored(name)) ?? alternatives[0])[0],
  });

  const field = ([name, node]) => {
    const kept = node.writeOnly ? stored(name) : null;
    const made = kind(node);
    const partner = node["x-with"] && properties[node["x-with"]];
    const visible = partner ? chosen(node["x-with"], partner) : chosen(name, node);
    const cleared = node.type === "boolean" ? false : "";
    const alternative = node["x-either"] || partner?.["x-either"];
    return {
      ...made,
      name: prefix + name,
      label: made.type === "list" ? `${labelOf(name, node)}, one per line` : labelOf(name, node),
      hint: node.description,
      required: ((required.has(name) && !node.nullable) || Boolean(node["x-either"])) && !kept && made.type !== "check",
      none: node.nullable,
      optional: !required.has(name) && !node["x-either"] && ["text", "password", "number"].includes(made.type),
      secret: Boolean(node.writeOnly),
      placeholder: kept ? `${kept}; leave empty to keep it` : shown(node.examples?.[0], "json"),
      value: shown(name in values ? values[name] : node.default, made.type) ?? made.value,
      when: visible,
      ...(alternative && { instead: (held) => (when(held) && !visible(held) ? cleared : undefined) }),
    };
  };

  const all = [];
  for (const [name, node] of nodes) {
    const label = node["x-either"];
    const alternatives = label && groups.get(label);
    if (alternatives?.[0][0] === name) all.push(choice(label, alternatives));
    // Of a choice between boxes the choice itself says it.
    if (label && node.type === "boolean") all.push({ name: prefix + name, label: "", when: () => false, instead: (held) => (when(held) ? chosen(name, node)(held) : undefined) });
    else all.push(field([name, node]));
  }
  return all;
}
