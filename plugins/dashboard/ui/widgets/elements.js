// The elements that every page uses: times, bar charts, icons.

import { ago, clock, moment } from "../clock.js";
import { number } from "../text.js";

const SVG = "http://www.w3.org/2000/svg";

export const svg = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

// <ui-ago at="2026-01-03 10:00:00">: relative time, exact on hover. One timer serves all of them.

const REFRESH = 30_000;
const alive = new Set();

class Ago extends HTMLElement {
  static observedAttributes = ["at"];

  connectedCallback() {
    alive.add(this);
    this.draw();
  }

  disconnectedCallback() {
    alive.delete(this);
  }

  attributeChangedCallback() {
    this.draw();
  }

  draw() {
    const at = this.getAttribute("at");
    if (!at || !this.isConnected) return;
    if (!this.time) {
      this.time = document.createElement("time");
      this.replaceChildren(this.time);
    }
    this.time.dateTime = moment(at).toISOString();
    this.time.title = clock(at, "exact");
    this.time.textContent = ago(at);
  }
}

customElements.define("ui-ago", Ago);

/** Draw all times anew: some are older by now, or another clock was chosen. */
export const redrawTimes = () => alive.forEach((element) => element.draw());
setInterval(() => !document.hidden && redrawTimes(), REFRESH);

// <ui-bars values="0,3,1" label="Events per hour">: a bar chart as one path.

const STEP = 4;
const HEIGHT = 100;

/** The outline of all bars that are not zero; a small count still shows. */
function outline(values) {
  const peak = Math.max(1, ...values);
  return values
    .map((value, at) => {
      if (!value) return "";
      const height = Math.max(8, Math.round((value / peak) * HEIGHT));
      return `M${at * STEP} ${HEIGHT}v-${height}h${STEP - 1}v${height}z`;
    })
    .join("");
}

class Bars extends HTMLElement {
  static observedAttributes = ["values", "label"];

  connectedCallback() {
    this.draw();
  }

  attributeChangedCallback() {
    this.draw();
  }

  draw() {
    if (!this.isConnected) return;
    const values = (this.getAttribute("values") || "0").split(",").map(Number);
    const total = values.reduce((sum, value) => sum + value, 0);
    const text = `${this.getAttribute("label") ?? "Chart"}: ${number(total)} in total, at most ${number(Math.max(...values))}`;
    const width = values.length * STEP - 1;
    const chart = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    chart.setAttribute("aria-label", text);
    chart.append(svg("path", { d: outline(values), class: "bars" }));
    chart.append(Object.assign(svg("title", {}), { textContent: text }));
    this.replaceChildren(chart);
  }
}

customElements.define("ui-bars", Bars);

// <ui-icon name="search">: one stroke drawing of 16 × 16. Decoration only: the text beside it, or a label, says it.

const DRAWINGS = {
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1.5 1.5h-11zM6.5 14.5h3",
  box: "M2.5 5L8 2l5.5 3v6L8 14l-5.5-3zM2.5 5L8 8l5.5-3M8 8v6",
  chart: "M2 14h12M4 11V7M8 11V3M12 11V9",
  check: "M3 8.5l3.5 3.5L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  contrast: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM8 2v12M8 5h4M8 8h6M8 11h4",
  file: "M4 2h5l3 3v9H4zM9 2v3h3M6 8h4M6 11h4",
  flag: "M4 14V2.5h8.5L10.5 6l2 3.5H4",
  folder: "M2 4h4l1.5 2H14v7H2z",
  globe: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM2 8h12M8 2C4.5 5.5 4.5 10.5 8 14M8 2c3.5 3.5 3.5 8.5 0 12",
  heart: "M1.5 8h3L6 4.5l3 7L10.5 8h4",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9 8 10M8 12.5v.5",
  key: "M10 9.5a3.5 3.5 0 1 0-3.2-2L2 12.3V14h2.5v-1.5H6V11h1.3l1-1.7a3.6 3.6 0 0 0 1.7.2z",
  layers: "M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  list: "M2 4h12M2 8h12M2 12h8",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.5 2.5 0 0 1-4-4L5 7",
  more: "M3 8h.1M8 8h.1M13 8h.1",
  next: "M6 3l5 5-5 5",
  plug: "M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v3",
  previous: "M10 3L5 8l5 5",
  run: "M4.5 3v10l8-5z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9zM10.5 10.5L14 14",
  send: "M2 8l12-5-4.5 11-2-4.5zM7.5 9.5L14 3",
  sync: "M2.5 6.5h10L9.5 3.5M13.5 9.5h-10l3 3",
  tag: "M2 2.5h5.5L14 9l-5 5-6.5-6.5zM5 5.5h.1",
  tool: "M13.5 4.5l-2 2-2-2 2-2a3.5 3.5 0 0 0-4.6 4.3L2.5 11.2 4.8 13.5l4.4-4.4a3.5 3.5 0 0 0 4.3-4.6z",
};

class Icon extends HTMLElement {
  static observedAttributes = ["name"];

  attributeChangedCallback() {
    const drawing = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
    drawing.append(svg("path", { d: DRAWINGS[this.getAttribute("name")] ?? DRAWINGS.plug }));
    this.replaceChildren(drawing);
  }
}

customElements.define("ui-icon", Icon);
