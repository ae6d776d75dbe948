// The values of a form: what its controls hold, what is sent, and which field a refusal names.

/** Where a refusal belongs: the field that it names ("config.paths[0]: must be …"), or the form as a whole (""). */
export function place(message, names) {
  const [, path = "", text = message] = /^([\w.[\]-]+): (.*)$/s.exec(message) ?? [];
  const name = names.find((known) => path === known || path.startsWith(`${known}[`) || path.startsWith(`${known}.`));
  const said = name === undefined ? message : text;
  return { [name ?? ""]: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}` };
}

/** What a control holds. */
export function read(field, control) {
  if (field.type === "number") return control.value === "" ? null : Number(control.value);
  return field.read ? field.read(control.value) : control.value;
}

/** What a field holds, as the service takes it: a list is the text that was typed until then; `blank` is the JSON of an empty box. */
export function taken({ type, none, blank = none ? "null" : "{}" }, value) {
  if (type === "json") return json(value.trim() ? value : blank);
  return type === "list" && typeof value === "string" ? value.split("\n").map((text) => text.trim()).filter(Boolean) : value;
}

/** The value of a JSON text, or the text itself, so that the service says what is wrong. */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** "config.host" into { config: { host } }. */
export function put(body, path, value) {
  const steps = path.split(".");
  const last = steps.pop();
  const holder = steps.reduce((at, step) => (at[step] ??= {}), body);
  holder[last] = value;
}

const EMPTY = { check: false, checks: [], list: [], number: null };

/** What a field without a value holds. */
export function empty({ type, options, read: toSend = (text) => text }) {
  if (type === "select") return toSend(options?.[0]?.[0] ?? "");
  return type in EMPTY ? EMPTY[type] : "";
}
