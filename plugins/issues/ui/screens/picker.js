// A button that opens a list to choose from by typing: tags, people.

const SHOWN = 12;

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui, name) => {
  const { html, keyed } = ui;
  let text = "";
  let at = 0;

  function opening() {
    [text, at] = ["", 0];
    ui.refresh();
  }

  /** What is offered for the typed text: what is called exactly so first. */
  function found(options, make) {
    const wanted = text.trim().toLowerCase();
    const named = options.filter(({ label }) => label.toLowerCase().includes(wanted));
    const exact = (option) => Number(option.label.toLowerCase() === wanted);
    const made = wanted && make && !options.some(exact) ? [make(text.trim())] : [];
    return [...named.sort((one, other) => exact(other) - exact(one)).slice(0, SHOWN), ...made];
  }

  function pick(list, item) {
    list.hidePopover();
    if (item) void item.run();
  }

  function press(event, items) {
    if (event.key === "Enter") pick(event.target.closest("[popover]"), items[at]);
    else if (event.key === "ArrowDown") at = Math.min(at + 1, items.length - 1);
    else if (event.key === "ArrowUp") at = Math.max(at - 1, 0);
    else return;
    event.preventDefault();
    ui.refresh();
  }

  function type({ target }) {
    [text, at] = [target.value, 0];
    ui.refresh();
  }

  const option = (item, index) => html`<li role="option" id=${`${name}-${index}`} aria-selected=${index === at ? "true" : "false"}
    @click=${({ target }) => pick(target.closest("[popover]"), item)}>${item.label}</li>`;

  /** `options`: `{ label, run }`; `make(text)` gives one for a text that nothing is called by; `field` names the field. */
  return ({ label, field, options, make = null }) => {
    const items = found(options, make);
    return ui.popover(label, html`<input role="combobox" aria-label=${field} aria-expanded="true" aria-controls=${`${name}-options`} aria-autocomplete="list"
        aria-activedescendant=${items.length ? `${name}-${at}` : null} placeholder=${make ? "Find or make one" : "Find"} maxlength="80" autocomplete="off"
        .value=${text} @input=${type} @keydown=${(event) => press(event, items)} />
      <ul id=${`${name}-options`} role="listbox" aria-label=${label}>${keyed(items, (item) => item.label, option)}</ul>
      ${!items.length && html`<p class="faint">Nothing is called that.</p>`}`, { text: label, kind: "picker", opening });
  };
};
