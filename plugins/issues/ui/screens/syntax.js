// What can be typed to search for, with examples to take over.

const EXAMPLES = [
  ["gateway timeout", "both words, anywhere in an issue or its events"],
  ["\"gateway timeout\"", "this exact phrase"],
  ["5204*", "words that begin like this (at least three letters)"],
  ["-payment", "without this word"],
  ["value:\"52045\"", "exactly this value in a message or its context"],
  ["user:jo", "events of exactly this user"],
  ["stack:charge", "a function, a file or a class of the stack"],
];

/** @param {import("../../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  const { html } = ui;

  /** Put an example behind what stands in the field. */
  function take(event, field, example) {
    event.target.closest("[popover]").hidePopover();
    field.value = [field.value.trim(), example].filter(Boolean).join(" ");
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** `field`: a selector of the input; `more` says what else it takes. */
  return (field, more) => html`<h2>What to search for</h2>
    <dl class="syntax">${EXAMPLES.map(([example, meaning]) => html`<div>
      <dt><button class="button mono" type="button" @click=${(event) => take(event, document.querySelector(field), example)}>${example}</button></dt>
      <dd>${meaning}</dd></div>`)}</dl>
    <p class="faint">Not case-sensitive. You can search for any part of a code: <code>ORD-52045</code> by <code>52045</code>.</p>
    ${more && html`<p class="faint">${more}</p>`}`;
};
