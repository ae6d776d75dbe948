// The fields of a form from a JSON Schema: what a type of connector, channel or tracker declares is what people fill in.

const SHORT = 255;
const plain = (name) => `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;
const labelOf = (name, { title }) => title ?? plain(name);

/** The words of a choice: `oneOf` with titles, or the bare values. */
const choices = ({ oneOf, enum: values }) => oneOf?.map(({ const: value, title }) => [value, title ?? plain(String(value))]) ?? values?.map((value) => [value, plain(String(value))]);

/** A choice; what is chosen is sent as the schema has it, a number as a number. */
function select(found) {
  const values = new Map(found.map(([value]) => [String(value), value]));
  return { type: "select", options: found.map(([value, text]) => [String(value), text]), value: found[0][0], read: (text) => values.get(text) };
}

function kind(node) {
  const found = choices(node);
  if (found) return select(found);
  if (node.type === "boolean") return { type: "check" };
  if (node.type === "integer" || node.type === "number") return { type: "number", min: node.minimum, max: node.maximum, step: node.type === "integer" ? 1 : "any", half: true };
  if (node.type === "array") return { type: "list" };
  if (node.type === "object") return { type: "json", rows: node["x-rows"] ?? 2 };
  if (node["x-rows"]) return { type: "text", rows: node["x-rows"], max: node.maxLength };
  return { type: node.format === "password" ? "password" : "text", max: node.maxLength, half: node.maxLength <= SHORT };
}

const shown = (value) => (value && typeof value === "object" && !Array.isArray(value) ? (Object.keys(value).length ? JSON.stringify(value) : "") : value);

/**
 * Make fields from the properties of a schema; `schemas/dashboard.d.ts` describes the options, docs/plugins.md what of a
 * schema counts.
 */
export function fieldsOf(schema, { prefix = "", type = "", values = {}, stored = () => null, when = () => true } = {}) {
  const nodes = Object.entries(schema.properties ?? {});
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
    const partner = node["x-with"] && schema.properties[node["x-with"]];
    const visible = partner ? chosen(node["x-with"], partner) : chosen(name, node);
    const cleared = node.type === "boolean" ? false : "";
    const alternative = node["x-either"] || partner?.["x-either"];
    return {
      ...made,
      name: prefix + name,
      label: made.type === "list" ? `${labelOf(name, node)}, one per line` : labelOf(name, node),
      hint: node.description,
      required: (required.has(name) || Boolean(node["x-either"])) && !kept && made.type !== "check",
      secret: Boolean(node.writeOnly),
      placeholder: kept ? `${kept}; leave empty to keep it` : node.examples?.[0],
      value: shown(values[name] ?? node.default) ?? made.value,
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
