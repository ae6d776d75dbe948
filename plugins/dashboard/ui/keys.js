// Keyboard shortcuts: single keys and pairs like `g i`.

const EDITABLE = "input:not([type=checkbox]):not([type=radio]), select, textarea, [contenteditable]";
const PRESSABLE = "a, button, input, select, textarea, summary";
const PAIR_TIME = 1000;

/** Listen; `bindings()` gives what holds now: `{ key, label, run }`, later ones win. `commands` runs on Ctrl K, even in a field. */
export function start(bindings, commands) {
  let first = "";
  let pressed = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k") {
      event.preventDefault();
      commands();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.matches(EDITABLE)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if ((event.key === "Enter" || event.key === " ") && target.closest(PRESSABLE)) return;
    const pair = Date.now() - pressed < PAIR_TIME ? `${first} ${event.key}` : "";
    const all = bindings();
    const binding = all.findLast(({ key }) => key === pair) ?? all.findLast(({ key }) => key === event.key);
    first = event.key;
    pressed = Date.now();
    if (!binding) return;
    event.preventDefault();
    binding.run(event);
  });
}
