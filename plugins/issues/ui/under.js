// Where a list that a button opens stands: under it or, where there is no room, over it, and within the window.

const EDGE = 8;
const GAP = 2;

/** Open the popover of a button. */
export function openAt(button, list) {
  list.showPopover();
  const { top, bottom, left } = button.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const over = bottom + GAP + list.offsetHeight > height - EDGE && top > height - bottom;
  list.style.setProperty("top", `${over ? Math.max(EDGE, top - GAP - list.offsetHeight) : bottom + GAP}px`);
  list.style.setProperty("left", `${Math.max(EDGE, Math.min(left, width - EDGE - list.offsetWidth))}px`);
}
