import { h, redraw, soon } from "../dom.js";
import { get } from "../api.js";
import { failed } from "../ask.js";
import { bars, chart, legend, lying } from "../charts.js";
import { date, hour, section } from "../words.js";

// The filters a reply passes (reply/postprocess), as people say them.
const FILTERS = {
  labels: "labels taken off", fences: "marks of quoted data taken out", markdown: "markdown made plain", lines: "lines joined into one", "mention tokens": "ids made names",
  quotes: "quotation marks around all taken off", spam: "the same over and over, or a wall of signs", links: "web addresses taken out", "double @": "a second @ taken out", openers: "an opener it had used lately",
  blocklist: "words of the blocklist", command: "a command at its start", length: "cut to its length",
};
const STATUSES = ["active", "stale", "superseded", "expired", "evicted", "retracted"];

export function open(room) {
  async function refresh() {
    try {
      draw(await get("figures"));
    } catch (problem) {
      failed(room, problem, refresh);
    }
  }

  function draw(told) {
    const present = STATUSES.filter((name) => told.notes.some((day) => day.counts[name]));
    const cached = told.bills.reduce((sum, one) => sum + one[3], 0) / Math.max(1, told.bills.reduce((sum, one) => sum + one[2], 0));
    const held = told.recall;
    const at = (share) => (held.length ? held[Math.min(held.length - 1, Math.floor(share * held.length))] : 0);
    redraw(
      room,
      h("div", { class: "charts" },
        chart({ title: "Chat", note: "lines a minute, the last two busy hours", head: ["When", "Lines a minute"], rows: told.chat.map(([when, n]) => [hour(when), n]), draw: bars("Chat per minute") }),
        chart({ title: "The prompt", note: "tokens of each section, the mean of the last replies", head: ["Section", "Tokens"], rows: told.sections.map(([name, n]) => [section(name), Math.round(n)]), draw: lying("Tokens per section"), none: "No prompt yet." }),
        chart({ title: "Tokens per reply", note: `billed; ${Math.round(cached * 100)} % of them from the cache`, head: ["Reply", "Cached", "New"], rows: told.bills.map(([id, , billed, hit]) => [`#${id}`, hit, Math.max(0, billed - hit)]), draw: (rows) => [bars("Tokens per reply")(rows), legend(["cached", "new"])], none: "No model has answered yet." }),
        spend(told),
        chart({ title: "Notes", note: "by status, over time", head: ["Day", ...present], rows: told.notes.map((day) => [date(day.at), ...present.map((name) => day.counts[name] || 0)]), draw: (rows) => [bars("Notes by status")(rows), legend(present)], none: "No notes yet." }),
        chart({ title: "Filters", note: "how often each changed a reply", head: ["Filter", "Times"], rows: told.filters.map(([name, n]) => [FILTERS[name] || name, n]), draw: lying("Filters"), none: "None has changed a reply." }),
        chart({ title: "Rules", note: "how often each decided a proposal", head: ["Rule", "Times", "Decision"], rows: told.rules.map(([rule, verdict, n]) => [rule.replaceAll("_", " "), n, verdict]), draw: lying("Rules"), none: "Nothing was proposed yet." }),
        chart({ title: "Recall", note: held.length ? `half within ${at(0.5)} ms, nearly all within ${at(0.95)} ms` : "", head: ["Share", "Within ms"], rows: held.length ? [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99].map((share) => [`${Math.round(share * 100)} %`, at(share)]) : [], draw: bars("Recall latency"), none: "Nothing was looked up since the start." }),
      ),
    );
  }
  refresh();
  return { changed: soon(refresh, 5000) };
}

// In money where the settings name prices, else in tokens.
function spend(told) {
  const title = "Spend per stream", none = "No stream yet.";
  if (told.streams.some((one) => one[3] !== null)) {
    return chart({ title, note: `${told.currency || "cost"}, of all model calls with a price`, head: ["Stream", told.currency || "Cost", "Tokens in", "Tokens out"],
      rows: told.streams.map(([when, input, output, cost]) => [date(when), cost ?? 0, input, output]), draw: (rows) => bars("Cost per stream")(rows.map((row) => row.slice(0, 2))), none });
  }
  return chart({ title, note: "tokens of all model calls; money, once prices are named in the settings file", head: ["Stream", "In", "Out"],
    rows: told.streams.map(([when, input, output]) => [date(when), input, output]), draw: (rows) => [bars("Tokens per stream")(rows), legend(["in", "out"])], none });
}
