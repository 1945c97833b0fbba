// The channel's book: quotes, running jokes with a picture of when they lived, clips, and a search in what happened.

import { BOTTOM, box, chart, dot, edges, path } from "../chart.js";
import { h, put, redraw, button, changedOnly, empty, heading, soon } from "../dom.js";
import { get } from "../api.js";
import { doing, reading, saveText, searchField } from "../ask.js";
import { count, date, isoDay, clock, shortDate, t } from "../words.js";

const ROW = 16, TOP = 8, PICTURED = 12; // px; jokes in the picture

export function openBook(panel) {
  const find = searchField(() => refresh());
  const body = h("div", { class: "stack" });
  const picture = chart();
  const fold = h("details", {}); // stays, so that it is still open when the page is drawn again
  const draw = changedOnly((data) => redraw(body, data.found ? found(data.found) : pages(data, picture, fold, refresh)));
  const refresh = reading(body, () => get("book", { find: find.value }), draw);
  const saved = (event) => saveText(event.currentTarget, `book-${isoDay(clock.now())}.md`, "book/markdown");
  put(panel, h("div", { class: "row" }, find, button(t("book.export"), saved, { class: "small", title: t("book.export_as"), data: { key: "export" } })), body);
  return { changed: soon(refresh, 3000) };
}

const when = (one) => [date(one.at), one.minutes && t("book.minutes", { minutes: one.minutes })].filter(Boolean).join(" · ");
const link = (address, text) => address && [" · ", h("a", { href: address, target: "_blank", rel: "noreferrer" }, text)];
const entry = (one, ...more) => h("li", { class: "item episode" }, one.text && h("p", {}, one.text), h("p", { class: "meta" }, when(one), link(one.address, t("book.clip")), link(one.link, t("note.video")), more));
const listed = (rows) => h("ul", { class: "plain stack" }, rows);
const found = (rows) => (rows.length ? listed(rows.map((one) => entry(one))) : empty(t("memory.not_found")));

const clip = (one) => entry(one, one.kind === "marker" && ` · ${t("evening.kind.marker")}`);

// Of a clip without a summary there are its day and its link: all of them stand in a fold.
function listedClips(clips, fold) {
  const newest = [...clips].reverse(), told = newest.filter((one) => one.text), untold = newest.filter((one) => !one.text);
  put(fold, h("summary", { class: "meta", data: { key: "untold" } }, t("book.unsummarised", { n: untold.length })), listed(untold.map(clip)));
  return [told.length > 0 && listed(told.map(clip)), untold.length > 0 && fold];
}

function pages({ quotes, jokes, clips }, picture, fold, refresh) {
  if (!quotes.length && !jokes.length && !clips.length) return empty(t("book.empty"));
  const remove = (one) => [" ", doing("unquote", { id: one.id }, refresh, { data: { key: `quote${one.id}` } })];
  const told = (one) => ` · ${[t("book.times", { n: one.times.length }), one.people.join(", ")].filter(Boolean).join(" · ")}`;
  if (jokes.length) picture.draw(lives(jokes.slice(-PICTURED)));
  return [
    quotes.length > 0 && [heading(t("book.quotes")), listed(quotes.map((one) => entry(one, remove(one))))],
    jokes.length > 0 && [heading(t("book.jokes")), picture.node, listed(jokes.map((one) => entry(one, told(one))))],
    clips.length > 0 && [heading(t("book.clips")), listedClips(clips, fold)],
  ];
}

// A line for each joke, from when it first came up to the last time, with a dot for each.
function lives(jokes) {
  const first = Math.min(...jokes.map((one) => one.times[0])), last = Math.max(clock.now(), first + 1);
  const share = (at) => 0.02 + (0.96 * (at - first)) / (last - first);
  const points = jokes.flatMap((one) => one.times.map((at) => ({ x: share(at), at, text: `${date(at)}: ${one.text}` }))).sort((a, b) => a.at - b.at);
  const height = TOP + ROW * jokes.length + BOTTOM;
  return {
    caption: t("book.lives", { n: jokes.length }), height, points,
    head: [t("book.joke"), t("book.first"), t("book.last"), t("book.often")],
    rows: jokes.map((one) => [one.text, date(one.times[0]), date(one.times.at(-1)), count(one.times.length)]),
    paint(width) {
      const x = (at) => 4 + share(at) * (width - 8), y = (place) => TOP + ROW * place + ROW / 2;
      return [
        path("series came", jokes.map(({ times }, place) => box(x(times[0]), y(place) - 1, x(times.at(-1)) - x(times[0]), 2)).join("")),
        path("series stands", jokes.map(({ times }, place) => times.map((at) => dot(x(at), y(place), 4)).join("")).join("")),
        edges(width, height, [shortDate(first), shortDate(last)]),
      ];
    },
  };
}
