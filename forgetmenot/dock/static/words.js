// The page's texts, times and counts, in the language of the settings. `clock.now()` is the bot's time, which is not
// always this machine's.

const page = JSON.parse(document.getElementById("texts").textContent);
export const language = page.code;

// A command as it can be typed here: outside an installation `forgetmenot` is not on the path.
export const typed = (command) => command.replace(/^forgetmenot(?= |$)/, page.command);

// The browser's own variant of the page's language, so that a British user sees British dates. Chrome 103 in OBS can call
// its language "en-US@posix", which Intl refuses with an error that would end the page.
const variant = navigator.language.split("@")[0];
const locale = variant.startsWith(language) ? variant : language;

function template(key, values) {
  const text = key.split(".").reduce((table, name) => table?.[name], page.texts);
  return Array.isArray(text) ? text[values.n === 1 ? 0 : 1] : text;
}

// A text by its key, filled in: numbers as people write them.
export const t = (key, values = {}) =>
  (template(key, values) ?? key).replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? count(values[name]) : values[name] ?? ""));

// The same with elements in the places of some values.
export const parts = (key, values) => template(key, values).split(/\{(\w+)\}/).map((part, place) => (place % 2 ? values[part] : part));

// The text for one of many names, which are the bot's own; the name itself where there is none.
export function named(group, name, otherwise = String(name).replaceAll("_", " ")) {
  const key = `${group}.${String(name).replace(/\W+/g, "_")}`;
  return template(key, {}) === undefined ? otherwise : t(key);
}

export const clock = {
  ahead: 0,
  set(at) { this.ahead = at - Date.now(); },
  now() { return Date.now() + this.ahead; },
};

export const MODES = ["shadow", "mentions", "live"]; // as the settings name them
const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

function length(ms) {
  if (ms < MINUTE) return ["s", Math.max(0, Math.round(ms / 1000))];
  if (ms < HOUR) return ["min", Math.round(ms / MINUTE)];
  if (ms < 2 * DAY) return ["h", Math.round(ms / HOUR)];
  if (ms < 60 * DAY) return ["d", Math.round(ms / DAY)];
  return ["months", Math.round(ms / (30.4 * DAY))];
}

function inUnits(how, ms) {
  const [unit, n] = length(ms);
  return t(`${how}.${unit}`, { n });
}

// "1 h 12 min", so that the place can be found in a recording.
export const exact = (ms) => [ms >= HOUR && t("span.h", { n: Math.floor(ms / HOUR) }), t("span.min", { n: Math.floor((ms % HOUR) / MINUTE) })].filter(Boolean).join(" ");
export const span = (ms) => inUnits("span", ms);
export const ago = (at) => (clock.now() - at < 10_000 ? t("ago.now") : inUnits("ago", clock.now() - at));

export const left = (at) => {
  const rest = Math.max(0, at - clock.now());
  return rest < HOUR ? `${Math.floor(rest / MINUTE)}:${String(Math.floor((rest % MINUTE) / 1000)).padStart(2, "0")}` : span(rest);
};

// Days and times of the channel's zone, unless this browser does not know it.
function written(options, zone = page.zone) {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: zone || undefined });
  } catch {
    return new Intl.DateTimeFormat(locale, options);
  }
}
const WHOLE = { weekday: "short", day: "numeric", month: "short", year: "numeric" }, SHORT = { day: "numeric", month: "short" };
const day = written(WHOLE), shortDay = written(SHORT), time = written({ hour: "2-digit", minute: "2-digit" });
const calendar = written(WHOLE, "UTC"), calendarEdge = written(SHORT, "UTC");
export const date = (at) => day.format(at);
export const shortDate = (at) => shortDay.format(at);
export const hour = (at) => time.format(at);
// Days of the calendar, as the bot counts them: "2026-11-20".
export const calendarDay = (text) => calendar.format(new Date(text));
export const calendarShort = (text) => calendarEdge.format(new Date(text));
export const isoDay = (at) => new Date(at).toISOString().slice(0, 10);
export const percent = (share) => share.toLocaleString(language, { style: "percent", maximumFractionDigits: 0 });
export function money(amount, currency) {
  const digits = !amount || amount >= 0.1 ? 2 : amount >= 0.01 ? 3 : 4;
  return `${amount.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${currency}`.trim();
}
export const count = (n) => Number(n || 0).toLocaleString(language);
export const short = (n) => (n < 10_000 ? count(n) : n < 1_000_000 ? `${Math.round(n / 1000)}k` : `${(n / 1_000_000).toLocaleString(language, { maximumFractionDigits: 1 })}M`);
export const sure = (confidence) => t(confidence >= 0.85 ? "note.sure" : confidence >= 0.6 ? "note.fairly_sure" : "note.unsure");

// An action's parameters in a few words; what is empty is left out.
export const params = (action) => Object.entries(action.params).filter(([name, value]) => name !== "target" && value !== "" && value !== null)
  .map(([name, value]) => (name === "seconds" ? span(value * 1000) : name === "reason" || name === "text" ? value : `${named("parameter", name, named("action", name))} ${value}`)).join(", ");

// What is asked of a person, as one sentence.
export function question(action) {
  const { seconds, gap, effect, fact, what, note, text } = action.params;
  const values = { target: action.target, span: span(Number(seconds || 0) * 1000), gap: span(Number(gap || 0) * 1000), note, text: text ?? fact ?? what ?? effect };
  return t(`ask.${action.name}`, values);
}

// What stands where a list is still empty because no summary was written yet.
export function firstSummary(status) {
  const rest = Math.max(0, status.unread_at + status.silence_min * MINUTE - clock.now());
  return t("next_summary", { n: status.unread, more: Math.max(1, status.window - status.unread), span: span(rest) });
}
