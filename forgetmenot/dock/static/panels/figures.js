import { h, redraw, soon } from "../dom.js";
import { get } from "../api.js";
import { failed } from "../ask.js";
import { bars, chart, legend, lying } from "../charts.js";
import { date, hour, section } from "../words.js";

// The filters a reply passes (reply/postprocess), as people say them.
const FILTERS = {
  labels: "labels removed", fences: "data markers removed", markdown: "markdown removed", lines: "lines joined", "mention tokens": "IDs replaced by names",
  quotes: "outer quotation marks removed", spam: "repetition or symbol spam", links: "links removed", "double @": "double @ removed", openers: "repeated opening removed",
  blocklist: "blocked words", command: "leading command removed", length: "shortened",
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
        chart({ title: "Chat", note: "messages per minute, last two busy hours", head: ["When", "Messages per minute"], rows: told.chat.map(([when, n]) => [hour(when), n]), draw: bars("Chat per minute") }),
        chart({ title: "The prompt", note: "tokens per section, average of the last replies", head: ["Section", "Tokens"], rows: told.sections.map(([name, n]) => [section(name), Math.round(n)]), draw: lying("Tokens per section"), none: "No prompt yet." }),
        chart({ title: "Tokens per reply", note: `billed; ${Math.round(cached * 100)} % from the cache`, head: ["Reply", "Cached", "New"], rows: told.bills.map(([id, , billed, hit]) => [`#${id}`, hit, Math.max(0, billed - hit)]), draw: (rows) => [bars("Tokens per reply")(rows), legend(["cached", "new"])], none: "No model has answered yet." }),
        spend(told),
        chart({ title: "Notes", note: "by status, over time", head: ["Day", ...present], rows: told.notes.map((day) => [date(day.at), ...present.map((name) => day.counts[name] || 0)]), draw: (rows) => [bars("Notes by status")(rows), legend(present)], none: "No notes yet." }),
        chart({ title: "Filters", note: "how often each filter changed a reply", head: ["Filter", "Times"], rows: told.filters.map(([name, n]) => [FILTERS[name] || name, n]), draw: lying("Filters"), none: "No filter has changed a reply." }),
        chart({ title: "Rules", note: "how often each rule decided a proposal", head: ["Rule", "Times", "Decision"], rows: told.rules.map(([rule, verdict, n]) => [rule.replaceAll("_", " "), n, verdict]), draw: lying("Rules"), none: "The bot has not proposed anything yet." }),
        chart({ title: "Recall", note: held.length ? `half within ${at(0.5)} ms, nearly all within ${at(0.95)} ms` : "", head: ["Share", "Within ms"], rows: held.length ? [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99].map((share) => [`${Math.round(share * 100)} %`, at(share)]) : [], draw: bars("Recall latency"), none: "No recall since the start." }),
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
  return chart({ title, note: "tokens of all model calls; add your provider's prices to the settings file to see money", head: ["Stream", "In", "Out"],
    rows: told.streams.map(([when, input, output]) => [date(when), input, output]), draw: (rows) => [bars("Tokens per stream")(rows), legend(["in", "out"])], none });
}
