// A form from a description of its fields. What the service refuses stands beside the field that it names.

import { visible } from "../text.js";
import { html, keyed, render } from "../dom.js";
import { query } from "../api.js";
import { empty, place, put, read, taken } from "./values.js";

const PAUSE = 250;
const blank = (value) => value === "" || value === null;
let made = 0;
/** The forms that stay while their page is loaded again, by page and label. */
const kept = new Map();

/** Make a form element; `schemas/dashboard.d.ts` describes what it takes. */
export function form(options, element = document.createElement("form")) {
  if (!options.keep) return create(options, element).element;
  const { app, view, id } = query();
  const place = JSON.stringify([app, view, id, options.label]);
  const known = kept.get(place);
  // The one on the page stays, with the focus and what was typed; it takes over what was loaded.
  if (known?.element.isConnected) known.renew(options);
  else kept.set(place, create(options, element));
  return kept.get(place).element;
}

/** A form, and how it takes over what the page has loaded anew. */
function create(options, element) {
  let { label, fields, values = {}, action = "Save", danger = false, note, ready, save, cancel } = options;
  element.className = "form";
  element.setAttribute("aria-label", visible(label));
  const id = `form-${++made}`;
  const initial = (field) => values[field.name] ?? field.value ?? empty(field);
  const held = {};
  /** The field that each name stands for: of those with the same name, as types may have them, one is shown at a time. */
  const current = new Map();
  /** The names of the fields that were changed since the last time that the form was saved. */
  let touched = new Set();
  let problems = {};
  let busy = false;
  let noted = null;
  let timer = 0;

  const shown = () => fields.filter(({ when }) => !when || when(held));
  const draw = () => render(view(), element);

  /** Whether what was typed into one field may go on in another one of the same name. */
  const fits = (before, field) => before.type === field.type && field.type !== "select";

  /** Give each name the value that the shown field starts with, unless it has that one already, or what was typed. */
  function settle() {
    for (const field of fields) if (!(field.name in held)) held[field.name] = initial(field);
    for (const field of fields) {
      const { name, when } = field;
      const before = current.get(name);
      if (before === field || (when && !when(held))) continue;
      if (!touched.has(name) || (before && !fits(before, field))) held[name] = initial(field);
      current.set(name, field);
    }
  }

  function change(field, value) {
    held[field.name] = value;
    touched.add(field.name);
    settle();
    delete problems[field.name];
    draw();
    if (!note) return;
    clearTimeout(timer);
    timer = setTimeout(tell, PAUSE);
  }

  async function tell() {
    const asked = JSON.stringify(held);
    const values = Object.fromEntries(fields.map((field) => [field.name, taken(field, held[field.name])]));
    const answer = await Promise.resolve(note(values)).catch((error) => error.message);
    if (asked !== JSON.stringify(held)) return;
    noted = answer;
    draw();
  }

  function body() {
    const sent = {};
    for (const field of fields) {
      const other = field.instead?.(held);
      if (other !== undefined) put(sent, field.name, other);
      if (field.unsent || (field.when && !field.when(held))) continue;
      const value = taken(field, held[field.name]);
      if (field.secret && held[field.name]?.length === 0) continue; // what is stored stays
      if (field.optional && blank(value) && blank(initial(field))) continue; // nobody gave one
      put(sent, field.name, field.none && value === "" ? null : value);
    }
    return sent;
  }

  async function submit(event) {
    event.preventDefault();
    if (busy) return;
    busy = true;
    problems = {};
    draw();
    const sent = touched;
    touched = new Set(); // to save loads the page again, as a rule: nothing is to be kept then
    try {
      await save(body());
    } catch (error) {
      for (const name of sent) touched.add(name);
      problems = place(error.message, shown().map(({ name }) => name));
    }
    busy = false;
    draw();
    element.querySelector("[aria-invalid]")?.focus();
  }

  const common = (field) => ({
    id: `${id}-${field.name}`,
    problem: problems[field.name],
    about: [field.hint && `${id}-${field.name}-hint`, problems[field.name] && `${id}-${field.name}-problem`].filter(Boolean).join(" ") || null,
  });

  function control(field) {
    const { id: own, about, problem } = common(field);
    const invalid = problem ? "true" : null;
    const value = held[field.name];
    const set = (event) => change(field, read(field, event.target));
    if (field.type === "select") {
      return html`<select id=${own} name=${field.name} aria-describedby=${about} aria-invalid=${invalid} ?disabled=${field.fixed} .value=${String(value)} @change=${set}>
        ${keyed(field.options, ([option]) => option, ([option, text]) => html`<option value=${option}>${text}</option>`)}</select>`;
    }
    if (field.rows && field.type !== "list") {
      return html`<textarea id=${own} name=${field.name} rows=${field.rows} ?required=${field.required} maxlength=${field.max} spellcheck="false" autocomplete="off"
        placeholder=${field.placeholder} aria-describedby=${about} aria-invalid=${invalid} .value=${value} @input=${set}></textarea>`;
    }
    if (field.type === "list") {
      return html`<textarea id=${own} name=${field.name} rows=${field.rows ?? 2} ?required=${field.required} spellcheck="false" autocomplete="off"
        placeholder=${field.placeholder} aria-describedby=${about} aria-invalid=${invalid} .value=${[value].flat().join("\n")} @input=${set}></textarea>`;
    }
    const number = field.type === "number";
    return html`<input id=${own} name=${field.name} type=${field.type ?? "text"} ?required=${field.required} ?disabled=${field.fixed}
      min=${number ? field.min : null} max=${number ? field.max : null} step=${number ? field.step ?? 1 : null} maxlength=${number ? null : field.max}
      autocomplete=${field.type === "password" ? "new-password" : "off"} spellcheck="false"
      placeholder=${field.placeholder} list=${field.suggest ? `${own}-list` : null}
      aria-describedby=${about} aria-invalid=${invalid} .value=${value ?? ""} @input=${set} />
      ${field.suggest && html`<datalist id=${`${own}-list`}>${field.suggest.map((text) => html`<option value=${text}></option>`)}</datalist>`}`;
  }

  const below = (field) => {
    const { id: own, problem } = common(field);
    return html`${field.hint && html`<small class="hint" id=${`${own}-hint`}>${field.hint}</small>`}
      ${problem && html`<small class="problem" id=${`${own}-problem`} role="alert">${problem}</small>`}`;
  };

  function row(field) {
    const { id: own, about, problem } = common(field);
    if (field.type === "check") {
      return html`<div class="field"><label class="check"><input id=${own} name=${field.name} type="checkbox" aria-describedby=${about}
        .checked=${held[field.name]} @change=${(event) => change(field, event.target.checked)} /> ${field.label}</label>${below(field)}</div>`;
    }
    if (field.type === "checks") {
      return html`<fieldset class="field" aria-describedby=${about}><legend>${field.label}</legend>
        <div class="checks">${keyed(field.options, ([option]) => option, ([option, text]) => html`<label class="check">
          <input type="checkbox" name=${field.name} value=${option} aria-invalid=${problem ? "true" : null} .checked=${held[field.name].includes(option)} @change=${(event) =>
            change(field, event.target.checked ? [...held[field.name], option] : held[field.name].filter((one) => one !== option))} /> ${text}</label>`)}</div>
        ${below(field)}</fieldset>`;
    }
    return html`<div class=${field.half ? "field field-half" : "field"}><label for=${own}>${field.label}</label>${control(field)}${below(field)}</div>`;
  }

  const view = () => html`<div class="fields">${keyed(shown(), ({ name }) => name, row)}</div>
    ${note && html`<p class="note-line" role="status">${noted}</p>`}
    ${problems[""] && html`<p class="problem" role="alert">${problems[""]}</p>`}
    <div class="actions">
      <button class=${danger ? "button button-danger" : "button button-main"} ?disabled=${busy || (ready && !ready(held))}>${action}</button>
      ${cancel && html`<button class="button" type="button" @click=${cancel}>Cancel</button>`}
    </div>`;

  function renew(loaded) {
    ({ fields, values = {}, action = "Save", danger = false, note, ready, save, cancel } = loaded);
    if (!touched.size) problems = {};
    current.clear();
    for (const { name } of fields) if (!touched.has(name)) delete held[name];
    settle();
    draw();
    if (note) void tell();
  }

  element.addEventListener("submit", submit);
  settle();
  draw();
  if (note) void tell();
  return { element, renew };
}
