// A person's time here: their streams as bars; above them what is known, as it came, with plans dotted to their day; what
// was replaced is hollow and arched to what replaced it, what was removed is grey. Raids, gifts and jokes lie on top.

import { BOTTOM, apart, box, chart, diamond, dot, edges, path, triangle } from "../chart.js";
import { clock, count, date, shortDate, t } from "../words.js";

const HEIGHT = 140, MARKS = 12, NOTES = 44, FLOOR = HEIGHT - BOTTOM, TALLEST = 34;
const DAY = 86_400_000, STANDS = ["active", "past"];
const MARKED = { raid: triangle, gift: diamond, clip: dot, marker: (x, y, r) => box(x - 1.5, y - r, 3, 2 * r), joke: (x, y, r) => dot(x, y, r) + dot(x, y, r - 3) };

export function timeline() {
  const picture = chart();
  return { node: picture.node, draw(data) { picture.node.hidden = !data.streams.length && !data.notes.length; if (!picture.node.hidden) picture.draw(personPicture(data)); } };
}

const state = (note) => (STANDS.includes(note.status) ? "stands" : note.status === "superseded" ? "replaced" : "removed");
const noteWords = (note) => [t(`timeline.${state(note)}`, { fact: note.fact }), note.plan_at && t("timeline.plan", { date: date(note.plan_at) })].filter(Boolean).join(" ");

function items({ streams, notes, jokes, moments }) {
  return [
    ...streams.map((one) => ({ kind: "stream", at: one.at, lines: one.lines, words: [one.title, t("count.lines", { n: one.lines })].filter(Boolean).join(" · ") })),
    ...notes.map((one) => ({ kind: "note", at: one.at, id: one.id, note: one, words: noteWords(one) })),
    ...jokes.map((one) => ({ kind: "joke", at: one.at, id: one.id, words: t("timeline.joke", { fact: one.fact }) })),
    ...moments.map((one) => ({ kind: one.kind, at: one.at, words: t(`timeline.${one.kind}`, { n: Number(one.text) || 1 }) })),
  ].sort((a, b) => a.at - b.at);
}

function personPicture(data) {
  const all = items(data);
  const plans = data.notes.filter((note) => note.plan_at).map((note) => note.plan_at);
  const first = all[0].at, last = Math.max(clock.now(), ...plans);
  const share = (at) => 0.02 + 0.96 * ((at - first) / Math.max(1, last - first));
  const most = Math.max(1, ...data.streams.map((one) => one.lines));
  const replaced = data.notes.filter((note) => state(note) === "replaced");
  return {
    caption: t("timeline.caption", { streams: t("count.streams", { n: data.streams.length }), facts: t("count.notes", { n: data.notes.length - replaced.length }), replaced: replaced.length, date: date(first) }),
    legend: [["came", t("timeline.came")], ["stands", t("timeline.known")], ...(replaced.length ? [["replaced", t("learned.kind.replaced")]] : []),
      ...Object.keys(MARKED).filter((kind) => all.some((one) => one.kind === kind)).map((kind) => [kind, t(kind === "joke" ? "timeline.a_joke" : `evening.kind.${kind}`)])],
    shapes: { stands: dot(5, 5, 4), replaced: dot(5, 5, 4), ...Object.fromEntries(Object.entries(MARKED).map(([kind, shape]) => [kind, shape(5, 5, 4)])) },
    height: HEIGHT,
    points: all.map((one) => ({ x: share(one.at), text: `${date(one.at)}: ${one.words}` })),
    open: (place) => { if (all[place].id) location.hash = `#memory/note/${all[place].id}`; },
    head: [t("chart.day"), t("timeline.what")],
    rows: all.map((one) => [date(one.at), one.words]),
    paint(width) {
      const x = (at) => 4 + share(at) * (width - 8);
      const spots = new Map(data.notes.map((note, place) => [note.id, [x(note.at), NOTES + 12 * (place % 3)]]));
      const dots = (wanted) => data.notes.filter((note) => state(note) === wanted).map((note) => dot(...spots.get(note.id), 4)).join("");
      const arcs = replaced.filter((note) => spots.has(note.replaced_by)).map((note) => {
        const [[x1, y1], [x2, y2]] = [spots.get(note.id), spots.get(note.replaced_by)];
        return `M${x1.toFixed(1)} ${y1 - 5}Q${((x1 + x2) / 2).toFixed(1)} ${Math.min(y1, y2) - 20} ${x2.toFixed(1)} ${y2 - 5}`;
      });
      const ahead = data.notes.filter((note) => note.plan_at > note.at).map((note) => `M${spots.get(note.id)[0].toFixed(1)} ${spots.get(note.id)[1]}H${x(note.plan_at).toFixed(1)}`);
      const marked = all.filter((one) => MARKED[one.kind]);
      const places = apart(marked.map((one) => x(one.at)), 12, width);
      const marks = (kind) => marked.map((one, place) => (one.kind === kind ? MARKED[kind](places[place], MARKS, 5) : "")).join("");
      return [
        path("grid", `M4 ${FLOOR}H${width - 4}`),
        path("series came", data.streams.map((one) => box(x(one.at) - 1.5, FLOOR - 3 - (TALLEST * one.lines) / most, 3, 3 + (TALLEST * one.lines) / most)).join("")),
        path("plan", ahead.join("")), path("arc", arcs.join("")), path("series removed", dots("removed")), path("series replaced", dots("replaced")), path("series stands", dots("stands")),
        Object.keys(MARKED).map((kind) => path(`series ${kind}`, marks(kind))),
        edges(width, HEIGHT, [first, last].map(last - first > 300 * DAY ? date : shortDate)),
      ];
    },
  };
}
