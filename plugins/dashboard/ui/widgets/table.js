// Tables whose columns sort.

import { html, keyed } from "../dom.js";
import { number } from "../text.js";

/** By the table's id: the column it is sorted by, and whether the smallest comes first. */
const sorted = new Map();

const value = (row, { name, sort }) => (typeof sort === "function" ? sort(row) : row[name]);

function compare(a, b) {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b));
}

/** The rows in the order that was asked for; what has no value stays last. */
function order(rows, columns, id) {
  const { name, up } = sorted.get(id) ?? {};
  const column = columns.find((one) => one.name === name);
  if (!column) return rows;
  const filled = rows.filter((row) => value(row, column) != null).toSorted((a, b) => compare(value(a, column), value(b, column)) * (up ? 1 : -1));
  return [...filled, ...rows.filter((row) => value(row, column) == null)];
}

/** Make the function that shows tables; `redraw` shows the page again after a click on a heading. */
export const tables = (redraw) => {
  function sort(id, { name, number: figures }) {
    const now = sorted.get(id);
    sorted.set(id, { name, up: now?.name === name ? !now.up : !figures });
    redraw();
  }

  function heading(id, column) {
    const { name, label = name, number: figures } = column;
    const kind = figures ? "figure" : null;
    if (!label) return html`<th scope="col" class="act"><span class="off-screen">Actions</span></th>`;
    if (!id || !column.sort) return html`<th scope="col" class=${kind}>${label}</th>`;
    const now = sorted.get(id);
    const direction = now?.name !== name ? null : now.up ? "ascending" : "descending";
    return html`<th scope="col" class=${kind} aria-sort=${direction}><button class="sort" type="button" @click=${() => sort(id, column)}>${label}</button></th>`;
  }

  /** What the bar of a cell stands for. */
  const amount = (row, { name, bar }) => (typeof bar === "function" ? bar(row) : row[name]) ?? 0;

  /** The columns, those with bars with what the longest stands for. */
  const measured = (columns, rows) => columns.map((column) => (column.bar ? { ...column, most: Math.max(1, ...rows.map((row) => amount(row, column))) } : column));

  const meter = (content, row, column) => html`<span class="meter" vars=${{ "--share": `${((100 * amount(row, column)) / column.most).toFixed(1)}%` }}>${content}</span>`;

  const cell = (row, column) => {
    const plain = column.view ? column.view(row) : typeof row[column.name] === "number" && column.number ? number(row[column.name]) : row[column.name];
    const content = column.bar ? meter(plain, row, column) : plain;
    return html`<td class=${[column.number && "figure", column.wrap && "wrap", column.label === "" && "act"].filter(Boolean).join(" ") || null}
      data-label=${column.label ?? column.name}><span class="cell-content">${content}</span></td>`;
  };

  /** A table of rows; with `id` its columns marked `sort` can be sorted. */
  return (columns, rows, { id, label, empty = "Nothing yet.", key } = {}) => {
    if (!rows.length) return html`<p class="faint">${empty}</p>`;
    const ordered = id ? order(rows, columns, id) : rows;
    const drawn = measured(columns, rows);
    return html`<div class="scroll"><table class="table cells" aria-label=${label}>
      <thead><tr>${columns.map((column) => heading(id, column))}</tr></thead>
      <tbody>${keyed(ordered, (row, at) => (key ? row[key] : row.id) ?? at, (row) => html`<tr>${drawn.map((column) => cell(row, column))}</tr>`)}</tbody>
    </table></div>`;
  };
};
