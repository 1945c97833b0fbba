import { box, path } from "../chart.js";
import { h, put, redraw, s, button, changedOnly, chip, empty, entitle, heading, keeping, sentence, soon } from "../dom.js";
import { download, get } from "../api.js";
import { act, back, confirmed, does, doing, label, reading, result, say, searchField, sheet } from "../ask.js";
import { longList } from "../list.js";
import { state } from "../live.js";
import { ago, calendarDay, clock, date, exact, firstSummary, hour, isoDay, parts, shortDate, span, t } from "../words.js";
import { openAnswers } from "./answers.js";
import { openBook } from "./book.js";
import { evening } from "./evening.js";
import { learned } from "./learned.js";
import { noteCard } from "./note.js";
import { openRecap } from "./recap.js";
import { timeline } from "./timeline.js";
import { why } from "./why.js";

const TABS = { people: openPeople, streams: openStreams, notes: openNotes, channel: openChannel, book: openBook, answers: openAnswers };

export function open(panel, rest) {
  const [what, id] = rest;
  if (what === "person" && id) return openPerson(panel, id);
  if (what === "note" && id) return openNote(panel, id);
  const tab = Object.hasOwn(TABS, what) ? what : "people";
  const body = h("div", {});
  put(panel, h("div", { class: "tabs" }, Object.keys(TABS).map((name) =>
    h("a", { href: `#memory/${name}`, "aria-current": name === tab ? "page" : null }, t(name === "notes" ? "memory.notes_title" : `memory.${name}`)))), body);
  return TABS[tab](body);
}

// Before the first summary an empty list says what it waits for.
const soFar = (otherwise) => (state.now?.unread && !state.now.summaries ? firstSummary(state.now) : otherwise);
const SELDOM = 3000; // ms between two looks at what is long
const tell = (problem) => say(problem.message, false);

function openPeople(panel) {
  const find = searchField(() => list.reload());
  const caption = h("p", { class: "meta people-caption" }), filters = h("div", { class: "kinds-of" }), edge = h("div", { class: "person edge meta" });
  let kind = "", streams = [], data = null;
  const list = longList({
    label: t("memory.people"), nothing: () => t(find.value || kind ? "memory.not_found" : "nothing_yet"),
    fetchPage: (offset, limit) => get("people", { find: find.value, kind, offset, limit }),
    row: (person) => personRow(person, streams.length),
  });
  const draw = changedOnly((shown) => {
    streams = shown.streams;
    const { came, everybody, regular, missing, new: fresh } = shown.kinds;
    put(caption, streams.length > 0 && t("comes.caption", { people: t("count.people", { n: came }), streams: t("count.streams", { n: streams.length }) }));
    redraw(filters, Object.entries({ "": everybody, regular, new: fresh, missing }).map(([name, n]) =>
      button(t(`comes.kind.${name || "all"}`, { n }), () => { kind = name; draw({ ...data, kind }); list.reload(); }, { class: "toggle", "aria-pressed": String(kind === name), title: name && t(`comes.about.${name}`), data: { key: `kind${name}` } })));
    put(edge, streams.length > 1 && [h("span", {}), h("span", { class: "marks" }), h("span", { class: "ends" }, h("span", {}, shortDate(streams[0].at)), h("span", {}, shortDate(streams.at(-1).at)))]);
  });
  async function refresh() {
    data = await get("attendance").catch(() => data);
    if (data) draw({ ...data, kind });
    await list.refresh();
  }
  list.root.firstChild.classList.add("people-rows");
  put(panel, caption, h("div", { class: "row filters" }, filters, find), edge, list.root);
  refresh();
  return { close: list.close, changed: soon(refresh, SELDOM) };
}

// Thirty cells, one a stream: the more somebody wrote, the higher and the stronger.
const LEVELS = [1, 5, 20];
function cells(lines) {
  const level = (n) => LEVELS.filter((least) => n >= least).length;
  const of = (wanted) => lines.map((n, place) => (level(n) === wanted ? box(place + 0.1, 9 - 3 * wanted, 0.8, 1 + 3 * wanted) : "")).join("");
  return s("svg", { class: "cells", viewBox: `0 0 ${lines.length} 10`, preserveAspectRatio: "none", "aria-hidden": "true" }, [0, 1, 2, 3].map((one) => path(`level${one}`, of(one))));
}

const personRow = (person, streams) => h("a", { class: "item person", href: `#memory/person/${encodeURIComponent(person.id)}`, title: figures(person) },
  h("b", { dir: "auto" }, person.name), h("span", { class: "marks" }, comingMarks(person), hiddenMarks(person)),
  person.cells.length ? cells(person.cells) : h("span", { class: "cells" }),
  h("span", { class: "came" }, parts("comes.came", { n: person.cells.filter(Boolean).length, streams: h("span", {}, streams) })));

// What somebody is called here, besides their name.
const hiddenMarks = (person) => [person.opted_out > 0 && chip(t("people.opted_out"), "warn"), person.banned > 0 && chip(t("people.hidden"), "warn"), person.erasing > 0 && chip(t("people.erasing"), "warn")];
const comingMarks = (person) => [person.regular && chip(t("people.regular"), "good"), person.missing && chip(t("people.missing"), "warn")];
const marks = (person) => [comingMarks(person), person.role !== "viewer" && chip(t(`role.${person.role}`)), hiddenMarks(person)];
const figures = (person) => `${t("count.notes", { n: person.notes })} · ${t("count.streams", { n: person.streams })} · ${t("people.seen", { ago: ago(person.last_seen_at) })}`;

function openPerson(panel, id) {
  const head = h("header", { class: "who" });
  const alone = h("ul", { class: "plain" }), about = h("div", {});
  const { list, past } = standingOrPast({ subject: id }, () => refresh());
  const drawHead = changedOnly(drawPerson);
  const picture = timeline(), drawTime = changedOnly(picture.draw);

  const ask = (what) => get(`${what}/${encodeURIComponent(id)}`);

  function drawPerson(person) {
    entitle(person.name, t("panel.memory"));
    redraw(
      head, back(),
      h("h2", {}, person.name, marks(person)),
      h("p", { class: "meta" }, `${t("people.first_seen", { date: date(person.first_seen_at) })} · ${figures(person)}`),
      (person.wishes || person.together.length > 0) && h("p", { class: "meta", dir: "auto" }, [person.wishes, ...person.together].filter(Boolean).join(" · "), " ",
        person.wishes && doing("uncall", { viewer: person.id }, refresh, { data: { key: "uncall" } })),
      h("div", { class: "row" }, button(t("rights.export"), () => exported(person), { class: "small", data: { key: "export" } }),
        doing(person.opted_out ? "opt_in" : "opt_out", { viewer: person.id }, refresh, { class: "small", data: { key: "optout" } }),
        button(label("erase"), async (event) => { if (await erase(person, event.target)) location.hash = "#memory"; }, { class: "small danger", data: { key: "erase" } })),
    );
    redraw(about, person.brief && h("p", {}, person.brief));
    redraw(alone, leftAlone(person.left_alone, refresh));
  }

  put(panel, head, about, picture.node, remember(label("remember"), { target: id }, () => refresh()), heading(t("memory.notes_title"), past), list.root, h("h2", {}, label("never_mention")), suppression(() => refresh(), { viewer: id }), alone);
  const refresh = reading(head, () => Promise.all([ask("person"), ask("timeline")]), ([person, time]) => {
    drawHead(person);
    drawTime(time);
    return list.refresh();
  }, panel);
  return { close: list.close, changed: soon(refresh) };
}

const exported = (person) => get(`export/${encodeURIComponent(person.id)}`).then((data) => download(`forgetmenot-${person.login || person.id}.json`, data)).catch(tell);

async function erase(person, from) {
  const sure = await confirmed({ title: t("rights.erase", { name: person.name }), yes: t("rights.erase_yes"), type: person.login || person.name, text: t("rights.erase_text") });
  if (!sure) return false;
  const dialog = sheet(person.name, h("p", { class: "meta", role: "status" }, t("moment")));
  const answer = await result("erase", { viewer: person.id, confirm: true }, from);
  dialog.close();
  if (answer.ok) sheet(person.name, h("p", {}, answer.line));
  return answer.ok;
}

// Notes that stand, or with the button those that did once. `more`: what else is asked for; `told`: called with a page.
function standingOrPast(query, refresh, more = () => ({}), named = false, told = () => {}) {
  let status = "live";
  const list = longList({
    label: t("memory.notes_title"), nothing: () => (status === "live" && !more().find ? soFar(t("nothing_yet")) : t("memory.not_found")),
    async fetchPage(offset, limit) {
      const page = await get("notes", { ...query, ...more(), status, offset, limit });
      told(page);
      return page;
    },
    row: (note) => noteCard(note, refresh, named),
  });
  const past = button(t("note.history"), () => {
    status = status === "live" ? "past" : "live";
    past.setAttribute("aria-pressed", String(status === "past"));
    list.reload();
  }, { class: "toggle", "aria-pressed": "false" });
  return { list, past };
}

// One field for one operation: what is typed is its parameter `name`.
function adder(operation, name, body, refresh, label, more = {}) {
  const field = h("input", { type: "text", maxlength: 200, "aria-label": label, required: true, ...more });
  return h("form", {
    class: "adder",
    async onsubmit(event) {
      event.preventDefault();
      if (await act(operation, { ...body, [name]: field.value }, event.submitter)) { field.value = ""; refresh(); }
    },
  }, more.minlength && h("span", { class: "meta" }, label), h("div", { class: "row" }, field, h("button", { type: "submit", class: more.minlength ? "primary" : "" }, t("add"))));
}
const remember = (words, body, refresh) => adder("remember", "fact", body, refresh, words, { minlength: 5, placeholder: t(body.target ? "people.remember_example" : body.joke ? "channel.joke_example" : "channel.remember_example") });
const suppression = (refresh, viewer = {}) => adder("never_mention", "what", viewer, refresh, label("never_mention"), { placeholder: t("people.never_example"), title: does("never_mention") });

function openChannel(panel) {
  const alone = h("ul", { class: "plain" }), doubtful = h("div", {}), receipts = h("div", {});
  const { list, past } = standingOrPast({ scope: "channel" }, () => refresh());
  const drawers = {
    left_alone: changedOnly((rows) => redraw(alone, leftAlone(rows, refresh))),
    doubtful: changedOnly((rows) => redraw(doubtful, leftInDoubt(rows))),
    receipts: changedOnly((rows) => redraw(receipts, receiptList(rows))),
  };
  async function refresh() {
    await list.refresh();
    for (const [what, draw] of Object.entries(drawers)) await get(what).then(draw, () => null);
  }
  put(panel, remember(label("remember"), {}, refresh), remember(t("channel.joke"), { joke: true }, refresh),
    heading(t("memory.notes_title"), past), list.root,
    h("h2", {}, label("never_mention")), suppression(refresh), alone, doubtful, receipts);
  refresh();
  return { close: list.close, changed: soon(refresh) };
}

// Texts of others that erasures left, since a name in them may be a word.
const leftInDoubt = (rows) => rows.length > 0 && [
  h("h2", {}, t("channel.doubtful")), h("p", { class: "meta" }, t("channel.doubtful_text")),
  h("ul", { class: "plain" }, rows.map((row) => h("li", {}, doubtfulLink(row), ` ${row.text}`))),
];

// Numbers of erasures and forgotten facts; a receipt does not say whose it is.
const receiptList = (rows) => rows.length > 0 && [
  h("h2", {}, t("channel.receipts")), h("p", { class: "meta" }, sentence(t("channel.receipts_text"))),
  h("ul", { class: "plain" }, rows.map((row) => h("li", {}, t(`channel.receipt.${row.finished ? row.kind : "unfinished"}`, { ...row, day: calendarDay(isoDay(row.day)) })))),
];

function doubtfulLink(row) {
  if (row.table === "semantic_notes") return h("a", { href: `#memory/note/${row.row}` }, `#${row.row}`);
  if (row.table === "bot_messages") return button(t("now.why"), () => why(row.row), { class: "ghost small", data: { key: `doubtful${row.row}` } });
  return h("a", { href: "#memory/streams" }, t("memory.streams"));
}

const leftAloneWords = (row) => row.words || (row.note ? `#${row.note}` : t("memory.unlisted_topic", { ago: ago(row.at) }));
const leftAlone = (rows, refresh) => rows.map((row) => h("li", {}, leftAloneWords(row), " ",
  doing("may_mention", { id: row.id }, refresh, { data: { key: `allow${row.id}` } })));

function openNotes(panel) {
  const find = searchField(() => list.reload());
  const total = h("p", { class: "meta" });
  const { list, past } = standingOrPast({}, () => list.refresh(), () => ({ find: find.value }), true, (page) => put(total, t("count.notes", { n: page.total })));
  const listAgain = soon(list.refresh, SELDOM);
  const picture = learned();
  put(panel, picture.node, h("div", { class: "row" }, find, past), total, list.root);
  list.reload();
  return { close: list.close, changed: () => { listAgain(); picture.changed(); } };
}

function openStreams(panel) {
  const opened = new Set(), pictures = new Map();
  const more = h("div", { class: "row" }, h("a", { class: "button", href: "#setup/past_chat" }, t("setup.past_chat.title")));
  // The pictures are moved into the new list, so the focus has to be known before it is made.
  const draw = changedOnly((rows) => keeping(panel, () => put(panel, more, rows.length ? h("ol", { class: "timeline" }, rows.map((row, place) => stream(row, opened, pictureOf(row, place), read))) : empty(soFar(t("nothing_yet"))))));
  // The newest stream shows its evening at once, the others when they are asked for.
  function pictureOf(row, place) {
    if (place === 0 && !pictures.has(row.id)) pictures.set(row.id, evening(row.id));
    const picture = pictures.get(row.id);
    const show = button(t("evening.show"), () => { pictures.set(row.id, evening(row.id)); show.parentNode.replaceWith(pictures.get(row.id).node); }, { class: "ghost small", data: { key: `evening${row.id}` } });
    return picture ? picture.node : h("div", { class: "row" }, show);
  }
  const read = reading(panel, () => get("streams"), draw);
  const again = soon(read, SELDOM);
  return { changed() { again(); for (const picture of pictures.values()) picture.changed(); } };
}

// What !missed says of the stream that is on. The field stays as it is while the list around it is drawn again.
let field = null;
function soFarForm(row) {
  field ??= h("textarea", { rows: 3, maxlength: 250, "aria-label": t("memory.so_far") });
  if (field.value === (field.dataset.shown ?? "")) field.value = row.so_far;
  field.dataset.shown = row.so_far;
  return h("form", { class: "adder", onsubmit(event) { event.preventDefault(); act("so_far", { text: field.value }, event.submitter); } },
    h("span", { class: "meta" }, t("memory.so_far")), field, h("div", { class: "row" }, h("button", { type: "submit", title: does("so_far") }, label("so_far")),
      button(label("pin_so_far"), (event) => act("pin_so_far", {}, event.currentTarget), { class: "small", title: does("pin_so_far"), data: { key: "pin_so_far" } })));
}

// A text that replies read and that a model may have got wrong. It is edited in a sheet, since this list is drawn anew.
// `readText` gives it as it is edited, where `text` shows people by other names.
function corrected(name, id, text, again, readText = async () => text) {
  async function edit() {
    const shown = await readText().catch(tell);
    if (shown === undefined) return;
    const field = h("textarea", { rows: 10, maxlength: 2_000, "aria-label": does(name) });
    field.value = shown;
    const form = h("form", { class: "stack", async onsubmit(event) {
      event.preventDefault();
      if (!await act(name, { id, text: field.value, shown }, event.submitter)) return;
      dialog.close();
      again();
    } }, field, h("p", { class: "meta" }, does(name)), h("div", { class: "row end" }, h("button", { type: "submit", class: "primary" }, t("save"))));
    const dialog = sheet(label(name), form);
  }
  return [h("p", {}, text), h("div", { class: "row" }, button(label(name), edit, { class: "ghost small", title: does(name), data: { key: `${name}${id}` } }))];
}

function stream(row, opened, picture, again) {
  const inner = h("div", {});
  const details = h(
    "details", { open: opened.has(row.id), ontoggle: async () => {
      if (!details.open) return opened.delete(row.id);
      opened.add(row.id);
      if (!inner.firstChild) await episodes(row.id, inner).catch(tell);
    } },
    h("summary", { data: { key: `stream${row.id}` } }, t("count.episodes", { n: row.episodes })), inner,
  );
  const lasted = span((row.ended_at || clock.now()) - row.started_at);
  return h(
    "li", { class: row.ended_at ? "" : "on" },
    h("p", { class: "meta" }, `${date(row.started_at)}, ${hour(row.started_at)} · ${lasted} · ${t("count.people", { n: row.people })}`),
    row.title && h("h2", {}, row.title), picture, row.recap && corrected("edit_recap", row.id, row.recap, again), row.so_far !== undefined && soFarForm(row),
    row.ended_at && row.recap && h("div", { class: "row" }, button(t("recap.title"), () => openRecap(row.id), { class: "small", data: { key: `recap${row.id}` } })),
    row.episodes > 0 && details,
  );
}

async function episodes(id, inner) {
  const rows = await get(`stream/${id}`);
  put(inner, rows.map((row) => h("div", { class: "item episode" },
    h("p", { class: "meta" }, `${hour(row.started_at)} – ${hour(row.ended_at)} · ${t("count.lines", { n: row.events })} · ${t("count.notes", { n: row.notes })}`),
    corrected("edit_summary", row.id, row.summary, () => episodes(id, inner).catch(tell)))));
}

// One note: where it comes from, and where it was used.
function openNote(panel, id) {
  const read = () => get(`note/${encodeURIComponent(id)}`, { chain: 1 });
  const edited = (note) => { if (`${note.id}` !== id) location.hash = `#memory/note/${note.id}`; };
  const draw = changedOnly(({ chain, ...note }) => redraw(
    panel, back(),
    h("h2", {}, `#${note.id} `, chip(t(`status.${note.status}`), note.status)),
    noteCard(note, refresh, true, edited),
    chain.replaced.length > 0 && note.status === "active" && h("div", { class: "row" }, doing("restore", { id: note.id }, refresh, { class: "small", data: { key: "undo" } })),
    origin(chain, refresh),
  ));
  const refresh = reading(panel, read, (note) => { if (!panel.querySelector("form")) draw(note); }, panel); // whoever is writing goes on
  return { changed: soon(refresh) };
}

const stance = (word) => (word.speaker ? `${word.speaker} ${t(`stance.${word.stance}`)}` : t(`stance.${word.stance}`));
const other = (key, note) => h("p", {}, t(key), " ", h("a", { href: `#memory/note/${note.id}` }, `#${note.id}`), ` ${note.fact}`);

// What a piece of evidence says: a summary of a stream can be corrected, as under Streams.
function evidenceText(one, again) {
  if (!one.stream) return h("p", {}, one.summary);
  const readText = async () => (await get(`stream/${one.stream}`)).find((row) => row.id === one.episode)?.summary;
  return corrected("edit_summary", one.episode, one.summary, again, readText);
}

function origin(chain, again) {
  const streams = new Map(chain.streams.map((one) => [one.id, one]));
  const into = (one) => streams.has(one.stream) && t("note.into_stream", { span: exact(one.at - streams.get(one.stream).at) });
  return h(
    "div", { class: "stack" },
    h("h2", {}, t("note.evidence")),
    chain.evidence.map((one) => h("div", { class: "item episode" }, evidenceText(one, again),
      h("p", { class: "meta" }, [stance(one), streams.get(one.stream)?.title, into(one), `${date(one.at)}, ${hour(one.at)}`].filter(Boolean).join(" · "),
        one.video[0] && [" · ", h("a", { href: one.video[0], target: "_blank", rel: "noreferrer", title: t("note.video_until", { date: date(one.video[1]) }) }, t("note.video")), ` (${t("note.video_until", { date: date(one.video[1]) })})`]))),
    chain.replaced_by && other("note.replaced_by", chain.replaced_by),
    chain.replaced.map((one) => other("note.replaced", one)),
    h("h2", {}, t("note.history")),
    h("ul", { class: "plain" }, chain.history.map((one) => h("li", {}, `${date(one.at)}, ${hour(one.at)}: ${one.from ? `${t(`status.${one.from}`)} → ` : ""}${t(`status.${one.to}`)} (${one.cause})`))),
    chain.replies.length > 0 && [h("h2", {}, t("note.uses")), h("div", { class: "row" }, chain.replies.map((one) => button(ago(one.at), () => why(one.id), { class: "small" })))],
  );
}
