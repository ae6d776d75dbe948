// The levels of raw lines, as far as their text says them: what is marked on the page of a log.

const WORDS = /\b(EMERG(?:ENCY)?|ALERT|CRIT(?:ICAL)?|FATAL|PANIC|ERROR|ERR|WARN(?:ING)?|NOTICE|INFO|DEBUG|TRACE)\b/i;
const LEVELS = {
  EMERG: "EMERGENCY", EMERGENCY: "EMERGENCY", PANIC: "EMERGENCY", ALERT: "ALERT", CRIT: "CRITICAL", CRITICAL: "CRITICAL", FATAL: "CRITICAL",
  ERROR: "ERROR", ERR: "ERROR", WARN: "WARNING", WARNING: "WARNING", NOTICE: "NOTICE", INFO: "INFO", DEBUG: "DEBUG", TRACE: "DEBUG",
};
const REQUEST = /" ([45])\d\d /; // the status of an access line
const HEADER = 160; // the level stands in the first characters of a line
const RANKS = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"];

/** Each line with the level it has, or that the line before it handed down. */
export function levelled(lines) {
  let level = null;
  let event = null;
  return lines.map((line) => {
    const word = REQUEST.test(line.text) ? { 4: "WARNING", 5: "ERROR" }[REQUEST.exec(line.text)[1]] : WORDS.exec(line.text.slice(0, HEADER))?.[1].toUpperCase();
    const goes = /^\s/.test(line.text) || (line.occurrence && line.occurrence === event);
    if (!goes) level = word ? LEVELS[word] : null;
    const opens = line.occurrence && line.occurrence !== event;
    event = line.occurrence;
    return { ...line, level, opens };
  });
}

/** Those of a level or a worse one. */
export const ofLevel = (lines, level) => (level ? lines.filter((line) => line.level && RANKS.indexOf(line.level) <= RANKS.indexOf(level)) : lines);

/** "840 skipped (below Warning)": entries that were not kept, because of their level. */
export const skipped = (ui, number, which) => `${ui.number(number)} skipped (${which.replace("of the levels ", "").replace(/[A-Z]{4,}/g, ui.level)})`;

/** What a level is called in a sentence. */
export const named = (ui, level) => (level ? ui.level(level).toLowerCase() : "error");

/** The choice of a level: lines of it, or of a worse one, are shown. */
export const picker = (ui, level) => ui.html`<label class="check">Level
  <select @change=${(event) => ui.go({ ...ui.query(), level: event.target.value || null })}>
    <option value="" ?selected=${!level}>all</option>
    ${RANKS.slice(1).map((one) => ui.html`<option value=${one} ?selected=${one === level}>${ui.level(one)} or worse</option>`)}</select></label>`;
