// Copying a text, and <ui-copy text="…" label="Copy link">, the button for it.

const DONE = 1500;

/** Copy a text. The clipboard API needs HTTPS or localhost, so a hidden text field is the way elsewhere. */
export async function copy(text) {
  if (navigator.clipboard && isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "off-screen";
  (document.querySelector("dialog[open]") ?? document.body).append(field); // beside an open dialog nothing can be selected
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!copied) throw new Error("the browser refused");
}

class Copy extends HTMLElement {
  static observedAttributes = ["label"];

  connectedCallback() {
    if (this.button) return;
    this.button = document.createElement("button");
    this.button.type = "button";
    this.button.className = "button";
    this.button.addEventListener("click", () => this.run());
    this.append(this.button);
    this.attributeChangedCallback();
  }

  attributeChangedCallback() {
    if (this.button) this.button.textContent = this.getAttribute("label") ?? "Copy";
  }

  async run() {
    try {
      await copy(this.getAttribute("text") ?? "");
      this.button.textContent = "Copied";
    } catch {
      this.button.textContent = "Not copied";
    }
    setTimeout(() => this.attributeChangedCallback(), DONE);
  }
}

customElements.define("ui-copy", Copy);
