// <ui-chart .chart=${…}>: bars over time, on each other by series, read and chosen with the pointer or the keyboard.

import { html, render } from "../dom.js";
import { Cursor } from "./chart/cursor.js";
import { band, bars, layoutOf, outline, scales } from "./chart/drawing.js";
import { markLayer, placed } from "./chart/marks.js";
import { isDaily } from "./chart/scale.js";
import { ends, legend, numbersOf, rangeText, table, tip, valueText } from "./chart/words.js";
import { svg } from "./elements.js";

const BESIDE = 6; // pixels between a bar and its numbers

class Chart extends HTMLElement {
  #given = null;
  #marks = [];
  #source = null; // what the marks came from
  #layout = null;
  #open = false;
  #bands = svg("g", {}); // behind the bars: what is read and what was chosen
  #drawing = svg("svg", { "aria-hidden": "true" });
  #seen = new ResizeObserver(() => this.#draw());
  #cursor = new Cursor({
    changed: () => this.#show(),
    picked: (first, last) => this.#given.pick?.(ends(this.#given, [first, last])),
    cleared: () => Boolean(this.#given.picked && this.#given.clear && (this.#given.clear(), true)),
  });

  /** What to show, as `ui.chart` takes it; all that is drawn of it knows whether its bars are days. */
  set chart(chart) {
    const before = this.#given;
    this.#given = { ...chart, daily: isDaily(chart.starts, chart.end) };
    this.#cursor.last = chart.starts.length - 1;
    if (before && (before.starts[0] !== chart.starts[0] || before.starts.length !== chart.starts.length)) this.#cursor.forget();
    this.#take(chart.marks ?? []);
    this.#draw();
  }

  connectedCallback() {
    // Set before this module was there, it hides the setter.
    if (Object.hasOwn(this, "chart")) {
      const { chart } = this;
      delete this.chart;
      this.chart = chart;
    }
    this.#seen.observe(this);
  }

  disconnectedCallback() {
    this.#seen.disconnect();
  }

  /** Marks, or the promise of some: until they are there, those before stay. */
  #take(marks) {
    if (marks === this.#source) return;
    this.#source = marks;
    if (Array.isArray(marks)) this.#marks = marks;
    else void marks.then((found) => this.#source === marks && ((this.#marks = found), this.#draw()));
  }

  get #whole() {
    return [0, this.#given.starts.length - 1];
  }

  #draw() {
    if (!this.#given || !this.isConnected) return;
    const chart = this.#given;
    const { total, earlier } = numbersOf(chart, this.#whole);
    const empty = !total && !earlier;
    render(html`<figure class="chart-figure">
      <figcaption class="chart-head"><span class="chart-label">${chart.label}</span> ${!empty && legend(chart)}</figcaption>
      ${empty
        ? html`<p class="chart-empty">${chart.empty ?? `No ${chart.unit[1]} from ${rangeText(chart, this.#whole)}.`}</p>`
        : html`<div class="chart-body">${this.#plot(chart)}<div class="chart-over"></div><div class="chart-tip" aria-hidden="true"></div></div>
          <details class="chart-table" @toggle=${({ target }) => this.#unfold(target.open)}><summary>Show as table</summary>
            ${this.#open && table(chart)}</details>`}
    </figure>`, this);
    this.#layout = null;
    const plot = this.querySelector(".chart-plot");
    if (!plot?.clientWidth) return; // empty, or not laid out yet: the observer comes again
    const [width, height] = [plot.clientWidth, plot.clientHeight];
    this.#layout = layoutOf(chart, width, height);
    this.#drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#drawing.replaceChildren(this.#bands, ...scales(chart, this.#layout), ...bars(chart, this.#layout), ...(chart.before ? [outline(chart, this.#layout)] : []));
    this.#over(width);
    this.#show();
  }

  #plot({ label, pick }) {
    const cursor = this.#cursor;
    return html`<div class=${pick ? "chart-plot chart-picks" : "chart-plot"} role="slider" tabindex="0" aria-label=${label}
      aria-valuemin="0" aria-valuemax=${this.#whole[1]} @keydown=${(event) => cursor.key(event)} @focus=${() => cursor.focus(true)} @blur=${() => cursor.focus(false)}
      @pointermove=${(event) => this.#layout && cursor.point(this.#barUnder(event))} @pointerleave=${() => cursor.leave()} @pointerdown=${(event) => this.#press(event)}
      @pointerup=${() => cursor.release()} @pointercancel=${() => cursor.drop()}>${this.#drawing}</div>`;
  }

  /** The marks: over the plot and not in it, because what is in a slider is no link. */
  #over(width) {
    const { gutter } = this.#layout;
    const marks = placed(this.#marks, ends(this.#given, this.#whole), width - gutter);
    this.classList.toggle("chart-marked", marks.length > 0);
    const layer = this.querySelector(".chart-over");
    layer.style.setProperty("--gutter", `${gutter}px`);
    render(marks.length > 0 ? markLayer(marks, width - gutter) : null, layer);
  }

  /** What follows the pointer and the keyboard. */
  #show() {
    if (!this.#layout) return;
    const chart = this.#given;
    const { left, right, x } = this.#layout;
    const { read, range, at } = this.#cursor;
    const all = ends(chart, this.#whole);
    const { from, to } = chart.picked ?? {};
    const [first, last] = [from > all.from ? from : all.from, to < all.to ? to : all.to];
    const found = [];
    if (first < last && (first > all.from || last < all.to)) found.push(band("picked", x(first), x(last), this.#layout));
    if (read) found.push(band(read[0] === read[1] ? "read" : "picked", left(read[0]), right(read[1]), this.#layout));
    this.#bands.replaceChildren(...found);
    const plot = this.querySelector(".chart-plot");
    plot.setAttribute("aria-valuenow", at ?? 0);
    plot.setAttribute("aria-valuetext", valueText(chart, range ?? this.#whole));
    this.#tell(read);
  }

  /** The numbers of the bars that are read, beside them. */
  #tell(read) {
    const box = this.querySelector(".chart-tip");
    box.classList.toggle("chart-tip-on", Boolean(read));
    if (!read) return;
    render(tip(this.#given, read), box);
    const { left, right, width } = this.#layout;
    const behind = right(read[1]) + BESIDE;
    const place = behind + box.offsetWidth <= width ? behind : Math.max(0, left(read[0]) - BESIDE - box.offsetWidth);
    box.style.setProperty("--x", `${Math.round(place)}px`);
  }

  #unfold(open) {
    if (open === this.#open) return;
    this.#open = open;
    this.#draw();
  }

  #barUnder({ clientX }) {
    return this.#layout.barAt(clientX - this.#drawing.getBoundingClientRect().left);
  }

  #press(event) {
    if (event.button || !this.#given.pick || !this.#layout) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    this.#cursor.press(this.#barUnder(event));
  }
}

customElements.define("ui-chart", Chart);
