/// <reference lib="dom" />
/**
 * What the dashboard gives to the browser module of an area or plugin.
 *
 * The module named by `dashboard_assets` has one default export of the type `Setup`. It is fetched when the plugin is
 * enabled in the selected application, called once, before a page shows, and registers what it adds. When it throws,
 * nothing of it is kept and the rest of the dashboard goes on.
 */

export type Setup = (ui: Ui) => void;

/** Anything that can stand between nodes: text, a template, a list of them, an element, or nothing. */
export type View = Template | List | Node | string | number | boolean | null | undefined | View[];

/** The result of `html`; its form is private. */
export interface Template {
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** The result of `keyed`; its form is private. */
export interface List {
  readonly entries: readonly unknown[];
}

/** The parameters of an address or request; empty ones are left out, lists become comma lists. */
export type Query = Record<string, string | number | boolean | readonly (string | number)[] | null | undefined>;

/** The address as it is. */
export type Address = Record<string, string>;

export type Slot =
  | "issue.side" // data: the issue
  | "issue.main" // data: the issue
  | "issues.columns" // data: one issue of the list; keep it to one short cell
  | "issues.none" // data: the address of the list, when nothing matches; offer a way on, in a line
  | "chart.marks" // data: the times at the ends of a chart; `load` gives a list of `Mark`, there is no `render`
  | "overview" // data: the selected application
  | "settings" // data: the selected application
  | "setup"; // data: the selected application; shown while nothing was received yet

export type ActionSlot =
  | "issue.actions" // run gets the issue
  | "issues.bulk"; // run gets the chosen issues

export interface Key {
  /** As `KeyboardEvent.key`, or two of them: "g i". */
  key: string;
  label: string;
  run: (event: KeyboardEvent) => void;
}

export type Page<Data = any> = PageEntry & (Screen<Data> | {
  /**
   * Instead of `load` and `render`: the module that has them, fetched when the page is opened first. What the entry
   * module imports itself is fetched with the first page that anybody sees.
   */
  screen: () => Promise<{ default: (ui: Ui) => Screen<Data> }>;
});

export interface PageEntry {
  /** `^[a-z][a-z0-9_-]{0,39}$`, unique over all plugins: the `view` of the address. */
  id: string;
  title: string;
  /** An `IconName`; another one gives "plug". */
  icon?: string;
  /** True: the page has a link in the rail. */
  nav?: boolean;
  /** Smaller comes first; 100 when left out. The first page of the rail is the home page. */
  order?: number;
  /** The heading in the rail that the page stands under; none for what is used every day. */
  group?: string;
  /** `g` and this letter open the page. */
  letter?: string;
  /** The page of the rail that this page belongs to. */
  parent?: string;
  /**
   * True: the page is drawn without forms, tables, menus, `<ui-copy>` and the like, so that it shows before they are
   * fetched, and its `load` needs no `application()`.
   */
  bare?: boolean;
}

export interface Screen<Data = any> {
  /** The title of the window, when it depends on the data. */
  heading?: (data: Data) => string | undefined;
  /** Fetch what the page needs; pass `signal` on, so that a page that was left is not waited for. */
  load?: (query: Address, options: { signal: AbortSignal }) => Data | Promise<Data>;
  /** Draw. Give the page an `<h1 tabindex="-1">`: it takes the focus when the page opens. */
  render: (data: Data, query: Address) => View;
  /** Called after each load; the returned function is called before the next one. */
  open?: (query: Address) => (() => void) | void;
  /** Shortcuts that hold on this page. */
  keys?: Key[];
}

export interface Panel<Data = any, Loaded = any> {
  /** Unique in its slot over all plugins. */
  id: string;
  title?: string;
  order?: number;
  /** Called once for each time that the page is loaded; a form that is made here keeps what is typed. */
  load?: (data: Data) => Loaded | Promise<Loaded>;
  /** Draw the data of the slot, and what `load` fetched for it. */
  render?: (data: Data, loaded: Loaded) => View;
  /** Instead of `load` and `render`: an endpoint, its query, and the columns of the table of its `data`. */
  api?: string;
  query?: (data: Data) => Query;
  columns?: Column[];
}

/** What is marked on charts of time, such as deploys. */
export interface MarkPanel {
  id: string;
  load: (range: { from: string; to: string }) => Mark[] | Promise<Mark[]>;
}

/** A moment on a chart. Where names have no room side by side the newest are shown, the others on hover and focus. */
export interface Mark {
  at: string;
  text: string;
  /** What the pointer and a screen reader say in place of the text and its time. */
  title?: string;
  href?: string;
}

/** Bars over time. What a person reads is in the clock that was chosen; bars of whole UTC days are named as that. */
export interface Chart {
  /** What is counted, and over which time: "Events per hour, last 24 hours". */
  label: string;
  /** One and several of what is counted: `["event", "events"]`. */
  unit: readonly [string, string];
  /** Where each bar begins, in order, and where the last one ends. */
  starts: readonly string[];
  end: string;
  /** They stand on each other, the first at the bottom; `values` has a number for each bar. With several there is a legend. */
  series: readonly { id: string; label: string; values: readonly number[]; tone: Tone }[];
  /** The numbers of the range that this one is compared with, as an outline. */
  before?: readonly number[];
  /** True: different ones are counted, such as visitors, so that numbers of several bars do not add up. */
  distinct?: boolean;
  /** As `ui.marks` gives them. */
  marks?: readonly Mark[] | Promise<readonly Mark[]>;
  /** What is chosen; one end may be open. */
  picked?: { from?: string | null; to?: string | null } | null;
  /** A bar was clicked, a range dragged, or Enter pressed. */
  pick?: (range: { from: string; to: string }) => void;
  /** Escape was pressed while something is `picked`. */
  clear?: () => void;
  /** What is said when all numbers are zero. */
  empty?: View;
}

/** A colour with its meaning; it holds in both themes. */
export type Tone = "fatal" | "error" | "warning" | "info" | "debug" | "good" | "accent" | "soft";

export interface Column<Row = any> {
  name: string;
  label?: string;
  /** Draw the cell; without it the row's value of this name. */
  view?: (row: Row) => View;
  /** True, or what to compare by: the heading sorts. */
  sort?: boolean | ((row: Row) => string | number | null | undefined);
  /** True: figures, aligned to the right. */
  number?: boolean;
  /** True, or a function that gives the number: a bar shows its share of the greatest number of the column. */
  bar?: boolean | ((row: Row) => number | null | undefined);
  /** True: long text that may take several lines. */
  wrap?: boolean;
}

export interface Field {
  /** As the service names it; "config.host" becomes `{ config: { host } }`. */
  name: string;
  label: View;
  /** "text" when left out; "check" is one box, "checks" several, "list" one text per line, "json" (with `rows`) any JSON. */
  type?: "text" | "json" | "number" | "password" | "color" | "date" | "datetime-local" | "select" | "check" | "checks" | "list";
  /** The value of a new thing. */
  value?: unknown;
  required?: boolean;
  min?: number;
  /** The greatest number, or the most characters. */
  max?: number;
  step?: number | "any";
  rows?: number;
  hint?: View;
  placeholder?: string;
  options?: readonly (readonly [string, string])[];
  /** Texts offered while typing. */
  suggest?: readonly string[];
  /** Make the value to send from the text of the control. */
  read?: (text: string) => unknown;
  /** True: an empty text is sent as `null`. */
  none?: boolean;
  /** True: what had no value and got none is not sent. */
  optional?: boolean;
  /** True: an empty text is not sent, so that a stored secret stays. */
  secret?: boolean;
  /** True: shown, but cannot be changed. */
  fixed?: boolean;
  /** True: two of them share a line. */
  half?: boolean;
  /** Shown and sent only while this holds. */
  when?: (values: Record<string, any>) => boolean;
  /** What is sent in its place, whether it is shown or not; `undefined`: nothing. */
  instead?: (values: Record<string, any>) => unknown;
  /** True: never sent; it only decides what is shown. */
  unsent?: boolean;
}

export interface Form {
  label: string;
  fields: readonly Field[];
  /** By the names of the fields. */
  values?: Record<string, unknown>;
  /** The text of the button; "Save" when left out. */
  action?: string;
  danger?: boolean;
  /** Something to say about the values while they are typed. */
  note?: (values: Record<string, any>) => View | Promise<View>;
  /** Says of the values whether the button can be pressed; without it, it always can. */
  ready?: (values: Record<string, any>) => boolean;
  /** What it throws is shown beside the field that the message names, and nothing typed is lost. */
  save: (values: any) => unknown;
  cancel?: () => void;
  /** True: what is typed and not saved stays when the page is loaded again; the label is the only such one of its page. */
  keep?: boolean;
}

export interface Job {
  id: number;
  kind: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  result: any;
  error: string | null;
  [field: string]: unknown;
}

export interface Offer {
  label: string;
  hint?: string;
  /** True: offered whatever words were typed. */
  always?: boolean;
  run: () => void;
}

export interface Action<Subject = any> {
  id: string;
  label: string;
  order?: number;
  run: (subject: Subject) => void | Promise<void>;
}

export interface Api {
  /** GET. Throws an Error with `status` and the message of the service when the answer is not a success. */
  <Answer = any>(name: string, query?: Query, options?: { signal?: AbortSignal }): Promise<Answer>;
  /** Write; a Blob is sent as the bytes that it is. */
  post<Answer = any>(name: string, body?: unknown, query?: Query): Promise<Answer>;
  put<Answer = any>(name: string, body?: unknown, query?: Query): Promise<Answer>;
  patch<Answer = any>(name: string, body?: unknown, query?: Query): Promise<Answer>;
  delete<Answer = any>(name: string, body?: unknown, query?: Query): Promise<Answer>;
}

export interface Application {
  id: string;
  name: string;
  logs: string;
  [field: string]: unknown;
}

/**
 * Elements for templates; they need no kit.
 *
 * - `<ui-ago at="2026-11-28 07:00:12">`: a time of the service as "5m ago", which goes on by itself; exact on hover.
 * - `<ui-bars values="0,3,1" label="Events per hour">`: small bars without a scale, such as in a row. `values` are numbers
 *   with commas, `label` says what they are, for readers and on hover. Give it a size: it fills it. A chart to read is `chart`.
 * - `<ui-icon name="search">`: a drawing of 16 × 16 in the colour of the text. Decoration: words or a label say what it means.
 *   `name` is an `IconName`; another one gives "plug".
 * - `<ui-copy text="…" label="Copy link">`: a button that copies `text`; `label` stands on it, "Copy" when left out. It comes
 *   with the widgets: a page that is `bare` has it after `widgets()`.
 */
export interface Elements {
  "ui-ago": { at: string };
  "ui-bars": { values: string; label?: string };
  "ui-icon": { name: IconName };
  "ui-copy": { text: string; label?: string };
}

export type IconName =
  | "bell" | "box" | "chart" | "check" | "close" | "contrast" | "file" | "flag" | "folder" | "globe" | "heart"
  | "help" | "key" | "layers" | "list" | "link" | "more" | "next" | "plug" | "previous" | "run" | "search" | "send"
  | "sync" | "tag" | "tool";

export interface Ui {
  /** Grows when something is taken away or changes its meaning. */
  readonly version: 2;
  /** The id of the plugin that this object was made for. */
  readonly plugin: string;

  // Register, while the module's default export runs.
  page(page: Page): void;
  panel(slot: "chart.marks", panel: MarkPanel): void;
  panel(slot: Exclude<Slot, "chart.marks">, panel: Panel): void;
  action(slot: ActionSlot, action: Action): void;
  keys(bindings: Key[]): void;
  /** Offer something in the command palette for what was typed. */
  find(offer: (text: string) => Offer[]): void;
  /** The same for what has to be asked for: called when typing pauses; `signal` aborts when it goes on. */
  findLater(ask: (text: string, options: { signal: AbortSignal }) => Promise<Offer[]>): void;

  /** A template; holes: nodes, `name=`, `?name=` (present or not), `.name=` (property), `@name=` (event), `vars=`. */
  html(strings: TemplateStringsArray, ...values: unknown[]): Template;
  /** A list whose items keep their elements by key. */
  keyed<Item>(items: Iterable<Item>, key: (item: Item, at: number) => unknown, view: (item: Item, at: number) => View): List;
  /** Show a view in an element of your own that stands outside of pages and panels; the next call updates it. */
  render(view: View, element: Element): void;
  /** A table of rows; with `id` its columns marked `sort` can be sorted. */
  table(columns: Column[], rows: any[], options?: { id?: string; label?: string; empty?: View; key?: string }): View;
  /** A chart; the module that draws it is fetched when one is used first. */
  chart(chart: Chart): View;
  /** What plugins mark between two times (the slot "chart.marks"), for `chart`. */
  marks(range: { from: string; to: string }): Promise<Mark[]>;
  /** The pages of a list, by the parameter `page` of the address, or `name`; `meta` as the service gives it. */
  pager(
    meta: { page: number; pages: number; total: number; total_exact?: boolean }, word: string, words?: string, name?: string,
  ): View;
  /** A form as an element: make it in `load`, put it into what `render` draws. */
  form(form: Form): HTMLFormElement;
  /**
   * Fields from a JSON Schema of an object, as types of connectors, channels and trackers declare it; not before widgets are
   * there, as they are on every page that is not `bare`. Names get the prefix ("config."), `values` are those that are
   * stored, `stored(name)` says in words that a secret is there, and `when` when all of them are shown. A form with the
   * fields of several types gives the name of each as `type`.
   */
  fieldsOf(schema: Record<string, any>, options?: {
    prefix?: string; type?: string; values?: Record<string, any>; stored?: (name: string) => string | null;
    when?: (values: Record<string, any>) => boolean;
  }): Field[];
  /** A form in a dialog; gives what `save` gave, or null when it was closed. */
  ask(form: Omit<Form, "label" | "cancel"> & { title: string; text?: View }): Promise<any>;
  /** Ask before something is done; `typed` has to be typed for it, in capitals or not, and is given to `run`. */
  confirm(question: { title: string; text?: View; action: string; typed?: string; run: (typed?: string) => unknown }): Promise<any>;
  /** Anything in a dialog; resolves when it was closed. */
  dialog(title: string, view: (close: () => void) => View, options?: { wide?: boolean }): Promise<void>;
  /** A button that opens a list of actions; `label` is unique on the page, falsy items are left out. `text` stands on the button. */
  menu(
    label: string, items: ({ label: string; run: () => unknown; danger?: boolean } | false | null | undefined)[], options?: { text?: string },
  ): View;
  /**
   * A button that opens a box of anything. `opening` is awaited before it shows: fetch there what `content` is made of, and
   * `refresh`. `label` is unique on the page; `text` or `icon` stands on the button, `plain` without a frame; `kind` is a
   * class of the box. The first control in it has the focus; Esc, a click elsewhere and the button close it.
   */
  popover(
    label: string, content: View,
    options?: { text?: string | null; icon?: IconName | null; plain?: boolean; kind?: string; opening?: (() => unknown) | null },
  ): View;
  /**
   * A form of two 24-hour times in the chosen clock, made once for a page: `open` shows what `view()` draws, until times are
   * chosen or it is cancelled. `chosen` gets them as the service takes them, null where none was typed. `hint` stands beside
   * the clock: "cut to full hours".
   */
  dates(): {
    open(
      range: { from?: string | null; to?: string | null; hint?: string },
      chosen: (range: { from: string | null; to: string | null }) => void,
    ): Promise<void>;
    view(): View;
  };
  /** How far work is. */
  progress(progress: { done: number; total?: number | null; unit?: string; text?: string | null }, label: string): View;
  /** Copy a text, with and without HTTPS; throws when the browser refuses. `<ui-copy>` is a button for it. */
  copy(text: string): Promise<void>;
  /** Text to copy. */
  snippet(text: string, label: string): View;
  /** Fetch what a `bare` page did not wait for, before it draws some of it (`<ui-copy>`, forms, tables, …) after all. */
  widgets(): Promise<void>;
  /** The panels that others added to a slot of your page. */
  slot(name: Slot, data: unknown): Node[];
  /** The actions that others added to a slot of your page. */
  actions(name: ActionSlot): Action[];

  api: Api;
  /** Save the answer of a GET as a file, under the name that the service gives it. */
  download(name: string, query?: Query): Promise<void>;
  /** Call `changed` with each new answer of an endpoint that has an ETag, or `gone` when it is not there any more (404), which ends it; returns the function that stops it. */
  watch(name: string, query: Query, changed: (answer: any) => void, seconds?: number, gone?: ((error: Error) => void) | null): () => void;

  /** The current address. */
  query(): Address;
  /** The address of a view, for `href`; the selected application stays. */
  link(query: Query): string;
  go(query: Query, options?: { replace?: boolean }): void;
  /** Draw the page again from the data it has. */
  refresh(): void;
  /** Load the page's data again. */
  reload(): Promise<void>;
  /** Fetch plugins and applications again as well. */
  restart(): Promise<void>;

  /** A short message; `undo` offers the way back, `error` stays until it is closed. */
  toast(text: string, options?: { undo?: () => unknown; error?: boolean }): void;
  /** Do something, tell how it went, load the page again; gives the answer, or null when it failed. */
  act<Answer>(work: () => Answer | Promise<Answer>, said: string | ((answer: Answer) => string)): Promise<Answer | true | null>;
  /** Show a job in the strip that stays while pages come and go; `done` gets it when it has ended, `undo` is offered then: one that failed or was cancelled may have done a part. */
  follow(id: number, options?: { label?: string; done?: (job: Job) => void; undo?: (job: Job) => unknown }): void;
  application(): Application | null;
  /** What a plugin adds to the dashboard, as texts; its module is fetched for it, also when it is switched off. */
  added(plugin: string): Promise<{ pages: string[]; panels: string[]; actions: string[] }>;
  /** Show in the tab of the browser that so many new things wait; none with 0. */
  badge(waiting: number): void;
  /** True when a key is in use. */
  signedIn(): boolean;

  /** "1,234,567" */
  number(value: number): string;
  /** "1.5 kB" */
  bytes(value: number): string;
  /** "1 event", "2 events" */
  plural(count: number, word: string, words?: string): string;
  /** "Error" for "ERROR" */
  level(severity: string): string;
  /** "Import incoming" for "import_incoming", such as a job's kind */
  sentence(name: string): string;
  // Times are the service's `YYYY-MM-DD HH:MM:SS` in UTC. People read them in the clock that they chose, local or UTC.
  /** "5m ago" */
  ago(time: string): string;
  /**
   * A time in the chosen clock: "minute" (when left out) is "28 Nov 08:00", "day" "28 Nov", both with the year when it is
   * not this one; "time" is "08:00", "exact" "28 Nov 2026, 08:00:12 UTC+1".
   */
  clock(time: string, form?: "minute" | "day" | "time" | "exact"): string;
  /** The name of the chosen clock, to stand once in a heading or beside an axis: "UTC" or "UTC+1". */
  zone(date?: Date): string;
  /** The date and time of day of a time in the chosen clock, as inputs take them; and the way back. */
  toClock(time: string): { date: string; time: string };
  fromClock(date: string, time?: string): string;
  moment(time: string): Date;
  stamp(date: Date): string;
}
