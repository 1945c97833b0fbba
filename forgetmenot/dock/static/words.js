// Times and counts as people say them. `clock.now()` is the bot's time, which is not always this machine's.

export const clock = {
  ahead: 0,
  set(at) { this.ahead = at - Date.now(); },
  now() { return Date.now() + this.ahead; },
};

const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

export function span(ms) {
  if (ms < MINUTE) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  if (ms < 60 * DAY) return `${Math.round(ms / DAY)} days`;
  return `${Math.round(ms / (30.4 * DAY))} months`;
}

export const ago = (at) => {
  const passed = clock.now() - at;
  return passed < 10_000 ? "just now" : `${span(passed)} ago`;
};

export const left = (at) => {
  const rest = Math.max(0, at - clock.now());
  return rest < HOUR ? `${Math.floor(rest / MINUTE)}:${String(Math.floor((rest % MINUTE) / 1000)).padStart(2, "0")}` : span(rest);
};

const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
export const date = (at) => day.format(at);
export const hour = (at) => time.format(at);
export const count = (n) => Number(n || 0).toLocaleString("en");
export const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

export const SOURCES = {
  command: "asked to remember",
  import: "imported",
  self_claim: "said it themselves",
  observed: "confirmed by several",
  reported: "hearsay",
};

export const sure = (confidence) => (confidence >= 0.85 ? "sure" : confidence >= 0.6 ? "fairly sure" : "unsure");

export const SECTIONS = {
  instructions: "Persona and rules", persona: "Persona and rules", rules: "Rules", grammar: "Action grammar",
  channel: "Channel", channel_notes: "Channel notes", channel_notes_more: "More channel notes",
  channel_notes_asked: "Channel notes that fit", digest: "The week",
  episodes: "Recent summaries", speaker: "Speaker", brief: "About the speaker", lore: "Notes about them",
  others: "Notes about others", past_episode: "An older summary", own_messages: "Their last messages",
  chat: "Chat", bot_replies: "The bot's last replies", actions_done: "Recent actions", message: "The message", now: "Date",
};
export const section = (name) => SECTIONS[name] || name.replaceAll("_", " ");
export const MEMORY = new Set(["lore", "others", "channel_notes", "channel_notes_more", "channel_notes_asked", "brief", "past_episode", "episodes", "digest"]);

export const STATUS = { sent: "said", shadow: "preview", silent: "no reply", dropped: "not sent", sending: "sending", refused: "refused by Twitch", unknown: "may not have arrived" };
export const ROLES = { broadcaster: "streamer", moderator: "mod", vip: "VIP" };
export const TRIGGERS = { mention: "mentioned", "follow-up": "follow-up", reply: "Twitch reply", returner: "back after a long time", raid: "raid" };
// An action's parameters in a few words; what is empty is not told.
export const params = (one) => Object.entries(one.params).filter(([name, value]) => name !== "target" && value !== "" && value !== null)
  .map(([name, value]) => (name === "seconds" ? span(value * 1000) : name === "reason" || name === "text" ? `“${value}”` : `${name.replaceAll("_", " ")} ${value}`)).join(", ");
export const short = (n) => (n < 10_000 ? count(n) : n < 1_000_000 ? `${Math.round(n / 1000)}k` : `${(n / 1_000_000).toFixed(1)}M`);

export const MODES = {
  shadow: ["Silent preview", "thinks, and answers commands alone"],
  mentions: ["Mentions", "answers who speaks to it"],
  live: ["Live", "also speaks up by itself"],
};
// The words for what a setting may be, where its own name says too little.
export const CHOICES = {
  shadow: "only note it", off: "off", ask: "ask me", live: "do it", offline: "no AI model", gemini: "Gemini",
  openai_compatible: "a program with OpenAI’s protocol",
};
// What stands where a list is still empty because no summary was written yet.
export const firstSummary = (told) => `${many(told.unread, "line")} heard; ${told.summaries ? "the next" : "the first"} summary comes after ${told.window} lines or ${told.silence_min} quiet minutes.`;
