// Text to copy: a command, a key, a piece of configuration.

import { html } from "../dom.js";

export const snippet = (text, label) => html`<div class="snippet"><pre tabindex="0" aria-label=${label}>${text}</pre>
  <ui-copy text=${text}></ui-copy></div>`;
