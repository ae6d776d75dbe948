// The issues that were first seen since a moment, found without a filter for it: sorted by first sight, they stand at the end.

const LIMIT = 100;

/** `{ issues, exact }`: those of the last two pages, newest first; not `exact` when there are more. */
export async function newSince(api, since, options) {
  const page = (number) => api("errors", { sort: "oldest", limit: LIMIT, page: number }, options);
  const first = await page(1);
  const { pages } = first.meta;
  const last = pages > 1 ? await page(pages) : first;
  const before = pages > 2 ? await page(pages - 1) : pages > 1 ? first : { data: [] };
  const rows = [...before.data, ...last.data];
  const issues = rows.filter(({ first_seen: at }) => at >= since).reverse();
  return { issues, exact: issues.length < rows.length || pages < 3 };
}
