// Where the page of a log stands, and whether its lines wrap.

const WRAP = "snaglist.logs.wrap";

/** Whether lines wrap, remembered in this browser. */
export function wrapping(ui) {
  let wrapped = remembered();

  function remembered() {
    try {
      return localStorage.getItem(WRAP) !== "false";
    } catch {
      return true;
    }
  }

  function turn() {
    wrapped = !wrapped;
    try {
      localStorage.setItem(WRAP, String(wrapped));
    } catch {
      // Storage is blocked: it holds as long as the page.
    }
    ui.refresh();
  }

  return { on: () => wrapped, turn };
}

/** Twice: lines that were never on the screen have only a guessed height. */
function scrollTo(selector, block) {
  const go = () => document.querySelector(selector)?.scrollIntoView({ block });
  go();
  requestAnimationFrame(go);
}

export const bottom = () => scrollTo(".log .line:last-child", "end");

/** Show the line at a byte of the file. */
export const showLine = (offset) => scrollTo(`[id="at-${Number(offset)}"]`, "center");

/** The place that the next and the previous one are counted from: the marked line, or the first one on the screen. */
export function here(ui) {
  const { mark } = ui.query();
  if (mark) return Number(mark);
  const top = document.querySelector(".source-bar").getBoundingClientRect().bottom;
  const first = [...document.querySelectorAll(".log .line")].find((line) => line.getBoundingClientRect().bottom > top);
  return Number(first?.id.slice("at-".length) ?? 0);
}
