// Classic script, loaded before the first paint: a chosen theme must not flash.
try {
  const theme = localStorage.getItem("snaglist.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the theme of the system holds.
}
