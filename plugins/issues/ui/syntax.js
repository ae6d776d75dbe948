// The button beside a search field that opens what can be typed there; the text is fetched when it is asked for.

import { openAt } from "./under.js";

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;
  let text = null;

  async function open({ currentTarget: button }) {
    const [{ default: syntax }] = await Promise.all([import("./screens/syntax.js"), ui.widgets()]);
    text ??= syntax(ui);
    ui.refresh();
    openAt(button, button.nextElementSibling);
  }

  /** `field`: the id of the search field. */
  return (field, more) => html`<span class="menu"><button class="button button-plain" type="button" aria-label="What to search for" title="What to search for"
      @click=${open}><ui-icon name="help"></ui-icon></button>
    <div id=${`${field}-help`} class="menu-list help-list" popover>${text?.(`#${field}`, more)}</div></span>`;
};
