// The button beside a search field that opens what can be typed there; the text is fetched when it is asked for.

/** @param {import("../../../schemas/dashboard.d.ts").Ui} ui */
export default (ui) => {
  let text = null;

  async function opening() {
    text ??= (await import("./screens/syntax.js")).default(ui);
    ui.refresh();
  }

  /** `field`: the id of the search field. */
  return (field, more) => ui.popover("What to search for", text?.(`#${field}`, more), { icon: "help", plain: true, kind: "help-list", opening });
};
