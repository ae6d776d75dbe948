// Which bars of a chart are read or chosen: those under the pointer, or those of the keyboard.

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };

/** `changed` is called after each change, `picked` with the first and the last bar that were chosen, `cleared` when nothing is to be. */
export class Cursor {
  #pointed = null; // under the pointer
  #from = null; // where the keyboard, or the pointer that is down, began
  #at = null; // and where it is
  #dragging = false;
  #focused = false;

  constructor({ changed, picked, cleared }) {
    Object.assign(this, { changed, picked, cleared, last: 0 });
  }

  /** Where the keyboard is: null until it moved. */
  get at() {
    return this.#at;
  }

  get range() {
    return this.#at === null ? null : [Math.min(this.#from, this.#at), Math.max(this.#from, this.#at)];
  }

  /** The bars whose numbers are shown. */
  get read() {
    if (this.#pointed !== null && !this.#dragging) return [this.#pointed, this.#pointed];
    return this.#focused || this.#dragging ? this.range : null;
  }

  /** There are other bars. */
  forget() {
    if (!this.#dragging) this.#from = this.#at = this.#pointed = null;
  }

  focus(focused) {
    this.#focused = focused;
    this.changed();
  }

  /** Arrows move, with Shift they extend, Enter chooses, Escape takes back. */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[event.key];
    if (step) this.#move(step, event.shiftKey);
    else if (event.key === "Enter" && this.#at !== null) this.picked(...this.range);
    else if (event.key !== "Escape" || (this.#at === null && !this.cleared())) return;
    else this.drop();
    event.preventDefault();
    event.stopPropagation();
    this.changed();
  }

  #move(step, extend) {
    const start = step === -Infinity ? 0 : this.last;
    const next = this.#at === null ? start : Math.min(this.last, Math.max(0, this.#at + step));
    if (!extend || this.#from === null) this.#from = next;
    this.#at = next;
    this.#pointed = null;
  }

  point(bar) {
    this.#pointed = bar;
    if (this.#dragging) this.#at = bar;
    this.changed();
  }

  leave() {
    this.#pointed = null;
    this.changed();
  }

  press(bar) {
    this.#from = this.#at = bar;
    this.#dragging = true;
    this.changed();
  }

  release() {
    if (!this.#dragging) return;
    const range = this.range;
    this.drop();
    this.picked(...range);
  }

  drop() {
    this.#dragging = false;
    this.#from = this.#at = null;
    this.changed();
  }
}
