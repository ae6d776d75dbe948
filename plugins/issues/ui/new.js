// The issues that were first seen since a moment, found without a filter for it: sorted by first sight, they stand at the end.

const LIMIT = 100;

/**
 * `{ issues, exact }`: those of the last two pages, newest first; not `exact` when there are more. `total` says how many
 * issues there are, so that the last page is asked for at once; the one before it only when all of the last are new.
 */
export async function newSince(api, since, total, options) {
  const page = (number) => api("errors", { sort: "oldest", limit: LIMIT, page: number }, options);
  const isNew = ({ first_seen: at }) => at >= since;
  const wanted = Math.max(1, Math.ceil(total / LIMIT));
  let last = await page(wanted);
  const pages = Math.max(1, last.meta.pages);
  if (pages !== wanted) last = await page(pages); // issues came or went meanwhile
  const before = pages > 1 && last.data.every(isNew) ? await page(pages - 1) : { data: [] };
  const rows = [...before.data, ...last.data];
  const issues = rows.filter(isNew).reverse();
  return { issues, exact: issues.length < rows.length || pages < 3 };
}
