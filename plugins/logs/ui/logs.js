// The logs area in the dashboard: sources, their raw lines, and maintenance.

/** @type {import("../../../schemas/dashboard.d.ts").Setup} */
export default (ui) => {
  const { html } = ui;
  ui.page({ id: "sources", title: "Logs", icon: "file", nav: true, order: 30, letter: "l", screen: () => import("./screens/sources.js") });
  ui.page({ id: "source", title: "Log", parent: "sources", screen: () => import("./screens/source.js") });
  ui.page({ id: "log-search", title: "Search logs", parent: "sources", screen: () => import("./screens/search.js") });
  ui.page({ id: "formats", title: "Formats", parent: "sources", screen: () => import("./screens/formats.js") });
  ui.page({ id: "format", title: "Format", parent: "sources", screen: () => import("./screens/format.js") });
  ui.page({ id: "maintenance", title: "Maintenance", icon: "tool", nav: true, order: 400, group: "Set up", letter: "m",
    screen: () => import("./screens/maintenance.js") });

  const importNow = async () => (await import("./importing.js")).default(ui)();

  ui.find((text) => [text && { label: `Search the raw logs for “${text}”`, always: true, run: () => ui.go({ view: "log-search", q: text }) }].filter(Boolean));

  /** The words of a search as lines have them: without quotation marks, and `#52045` as 52045. */
  const plain = (q) => q.replaceAll(/["“”„‟]|(?<!\S)#+(?=\w)/g, "");

  ui.panel("issues.none", {
    id: "raw",
    render: ({ q }) => q && html`<a class="button" href=${ui.link({ view: "log-search", q: plain(q) })}>Look for “${plain(q)}” in the raw logs</a>`,
  });

  const uploads = async () => (await import("./screens/uploads.js")).default(ui);

  ui.panel("setup", {
    id: "drop",
    title: "Drop log files",
    order: 5,
    load: async () => (await uploads()).place(),
    render: (_application, place) => place(importNow),
  });

  // Files that are dropped anywhere are read; the browser would leave the dashboard and show them. Those
  // for a box that takes files, or for a zone of somebody else, are left to it.
  const elsewhere = ({ defaultPrevented, target }) => defaultPrevented || target.closest?.("input[type=file]:not(.drop-zone input)");
  const leave = () => void uploads().then((made) => made.leave());
  const withFiles = (use, other) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    if (elsewhere(event)) return void other?.();
    event.preventDefault();
    use?.(event);
  };
  addEventListener("dragover", withFiles());
  addEventListener("dragenter", withFiles(() => void uploads().then(({ enter }) => enter()), leave));
  addEventListener("drop", withFiles(({ dataTransfer: { files, items } }) => {
    const given = [...files].map((file, at) => ({ file, folder: Boolean(items[at]?.webkitGetAsEntry?.()?.isDirectory) }));
    void uploads().then(({ add }) => add(given));
  }, leave));
};
