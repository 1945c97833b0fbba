import { h, put, redraw, button, chip, changedOnly, empty, heading, soon } from "../dom.js";
import { get } from "../api.js";
import { act, failed, label, say } from "../ask.js";
import { windowed } from "../list.js";
import { state } from "../live.js";
import { ROLES, ago, date, firstSummary, hour, many, span } from "../words.js";
import { noteCard } from "./note.js";
import { openChain } from "./chain.js";
import { erase, exported, optOut } from "./rights.js";

const TABS = { people: "People", channel: "Channel", streams: "Streams", notes: "All notes" };

export function open(room, rest) {
  const [what, id] = rest;
  if (what === "person" && id) return openPerson(room, id);
  if (what === "note" && id) return openChain(room, id);
  const tab = Object.hasOwn(TABS, what) ? what : "people";
  const body = h("div", {});
  put(room, h("div", { class: "tabs", role: "group", "aria-label": "Parts of the memory" }, Object.entries(TABS).map(([name, title]) =>
    h("a", { href: `#memory/${name}`, "aria-current": name === tab ? "page" : null }, title))), body);
  return { people: openPeople, channel: openChannel, streams: openStreams, notes: openNotes }[tab](body);
}

function search(label, placeholder, call) {
  let timer = 0;
  const field = h("input", { type: "search", "aria-label": label, placeholder, maxlength: 80, oninput: () => { clearTimeout(timer); timer = setTimeout(call, 200); } });
  return field;
}

// Before the first summary an empty list says what it waits for.
const soFar = (otherwise) => (state.now?.unread && !state.now.summaries ? firstSummary(state.now) : otherwise);
const SELDOM = 3000; // ms between two looks at what is long
const tell = (problem) => say(problem.message, false);

// ── people ──────────────────────────────────────────────────────────────────────────────────

function openPeople(room) {
  const find = search("Find a person", "Current or former name", () => list.reload());
  const list = windowed({
    label: "People", rowHeight: 58, nothing: () => (find.value ? "No viewer with that name." : "No viewers yet. Everybody who chats appears here."),
    fetchPage: (offset, limit) => get("people", { find: find.value, offset, limit }),
    row: (one) => h("a", { class: "item person", href: `#memory/person/${encodeURIComponent(one.id)}` },
      h("p", {}, h("b", {}, one.name), one.regular && chip("regular", "good"), ROLES[one.role] && chip(ROLES[one.role]), one.opted_out && chip("opted out", "warn"), one.banned && chip("hidden", "warn")),
      h("span", { class: "meta" }, `${many(one.notes, "note")} · ${many(one.streams, "stream")} · seen ${ago(one.last_seen_at)}`)),
  });
  put(room, find, list.root);
  list.reload();
  return { close: list.close, changed: soon(list.refresh, SELDOM) };
}

function openPerson(room, id) {
  const head = h("header", { class: "who" });
  const alone = h("ul", { class: "plain" }), about = h("div", {});
  const { list, past } = standingOrPast({ subject: id }, () => refresh(), {
    live: "Nothing is known yet. What they say becomes notes after a while.", past: "No note of theirs was replaced, removed or has ended.",
  });
  const drawHead = changedOnly(drawPerson);
  const heard = h("p", { class: "heard-now" });
  const drawHeard = changedOnly((facts) => put(heard, facts.length > 0 && ["Heard just now, not yet summarised: ", h("b", {}, facts.join(" · "))]));

  async function refresh() {
    try {
      drawHead(await get(`person/${encodeURIComponent(id)}`));
      drawHeard(await get("heard", { viewer: id }));
      await list.refresh();
    } catch (problem) {
      if (problem.status === 404) put(room, h("p", {}, h("a", { href: "#memory" }, "← People")), empty(problem.message));
      else failed(head, problem, refresh);
    }
  }

  function drawPerson(one) {
    redraw(
      head, h("a", { href: "#memory", class: "back" }, "← People"),
      h("h2", {}, one.name, one.regular && chip("regular", "good"), ROLES[one.role] && chip(ROLES[one.role]), one.opted_out && chip("opted out", "warn"), one.banned && chip("hidden", "warn")),
      h("p", { class: "meta" }, `first seen ${date(one.first_seen_at)} · ${many(one.streams, "stream")} · ${many(one.notes, "note")} · seen ${ago(one.last_seen_at)}`),
      h("div", { class: "row" }, button("Export", () => exported(one), { class: "small", data: { key: "export" } }), optOut(one, async (done) => { if (await done) refresh(); }),
        button("Erase", async (event) => { if (await erase(one, event.target)) location.hash = "#memory"; }, { class: "small danger", data: { key: "erase" } })),
    );
    redraw(about, (one.brief || one.streams.length > 0) && h("h2", {}, "In short"), one.brief && h("p", {}, one.brief),
      one.streams.map((part) => h("p", {}, h("span", { class: "meta" }, `${date(part.at)} `), part.text)));
    redraw(alone, leftAlone(one.left_alone, refresh));
  }

  put(room, head, about, adder("Remember about them", { target: id }, refresh), heading("Notes", past), heard, list.root, h("h2", {}, "Never mention"), suppression(refresh, { viewer: id }), alone);
  refresh();
  return { close: list.close, changed: soon(refresh) };
}

// Notes that stand, or with the button those that did once.
function standingOrPast(query, refresh, nothing) {
  let status = "live";
  const list = windowed({
    label: "Notes", rowHeight: 110, nothing: () => (status === "live" ? soFar(nothing.live) : nothing[status]),
    fetchPage: (offset, limit) => get("notes", { ...query, status, offset, limit }), row: (one) => noteCard(one, refresh),
  });
  const past = button("Show history", () => {
    status = status === "live" ? "past" : "live";
    past.textContent = status === "live" ? "Show history" : "Show active notes";
    list.reload();
  }, { class: "ghost small" });
  return { list, past };
}

function adder(label, body, refresh, example = "plays drums in a band") {
  const field = h("input", { type: "text", maxlength: 200, placeholder: example, "aria-label": label, required: true, minlength: 5 });
  return h("form", {
    class: "adder",
    async onsubmit(event) {
      event.preventDefault();
      if (await act("remember", { ...body, fact: field.value }, event.submitter)) { field.value = ""; refresh(); }
    },
  }, h("span", { class: "meta" }, label), h("div", { class: "row" }, field, h("button", { type: "submit", class: "primary" }, "Add")));
}

// ── the channel ─────────────────────────────────────────────────────────────────────────────

function openChannel(room) {
  const alone = h("ul", { class: "plain" });
  const { list, past } = standingOrPast({ scope: "channel" }, () => refresh(), {
    live: "No notes about the channel yet.", past: "No replaced, removed or expired notes.",
  });
  const drawAlone = changedOnly((rows) => redraw(alone, leftAlone(rows, refresh)));
  async function refresh() {
    await list.refresh();
    const rows = await get("left_alone").catch(() => null);
    if (rows) drawAlone(rows.filter((row) => !row.viewer));
  }
  put(room, adder("Remember about the channel", {}, refresh, "streams on Sundays at eight"), adder("Add a running joke", { joke: true }, refresh, "blame the ladder whenever somebody falls"),
    heading("Channel notes and running jokes", past), list.root,
    h("h2", {}, label("never_mention")), suppression(refresh), alone);
  refresh();
  return { close: list.close, changed: soon(refresh) };
}

const leftAlone = (rows, refresh) => (rows.length
  ? rows.map((row) => h("li", {}, row.words || `note #${row.note}`, " ", button(label("may_mention"), async (event) => { await act("may_mention", { id: row.id }, event.target); refresh(); }, { class: "ghost small", data: { key: `allow${row.id}` } })))
  : h("li", { class: "meta" }, "Nothing on the list."));

function suppression(refresh, viewer = {}) {
  const field = h("input", { type: "text", maxlength: 200, placeholder: "a topic, in a few words", "aria-label": "A topic the bot never mentions", required: true });
  return h("form", {
    class: "adder",
    async onsubmit(event) {
      event.preventDefault();
      if (await act("never_mention", { ...viewer, what: field.value }, event.submitter)) { field.value = ""; refresh(); }
    },
  }, h("div", { class: "row" }, field, h("button", { type: "submit" }, "Add")));
}

// ── all notes, streams ──────────────────────────────────────────────────────────────────────

function openNotes(room) {
  const reload = async () => count(await list.reload());
  const find = search("Find a note", "Find by words", reload);
  const which = h("select", { "aria-label": "Which notes", onchange: reload },
    h("option", { value: "live" }, "active"), h("option", { value: "past" }, "history"), h("option", { value: "" }, "all"));
  const total = h("p", { class: "meta" });
  const count = (told) => told && put(total, many(told.total, "note"));
  const list = windowed({
    label: "Notes", rowHeight: 110, nothing: () => (find.value || which.value !== "live" ? "No such note." : soFar("No note yet. What viewers say becomes notes after a while.")),
    fetchPage: (offset, limit) => get("notes", { find: find.value, status: which.value || "any", offset, limit }), row: (one) => noteCard(one, () => list.refresh(), true),
  });
  put(room, h("div", { class: "row" }, find, which), total, list.root);
  reload();
  return { close: list.close, changed: soon(async () => count(await list.refresh()), SELDOM) };
}

function openStreams(room) {
  const opened = new Set();
  const draw = changedOnly((rows) => redraw(room, rows.length ? h("ol", { class: "timeline" }, rows.map((one) => stream(one, opened))) : empty(soFar("No streams yet. The first chat message starts one."))));
  const refresh = () => get("streams").then(draw, (problem) => failed(room, problem, refresh));
  refresh();
  return { changed: soon(refresh, 3000) };
}

function stream(one, opened) {
  const inner = h("div", {});
  const details = h(
    "details", { open: opened.has(one.id), ontoggle: async () => {
      if (!details.open) return opened.delete(one.id);
      opened.add(one.id);
      if (!inner.firstChild) await episodes(one.id, inner).catch(tell);
    } },
    h("summary", { data: { key: `stream${one.id}` } }, many(one.episodes, "episode")), inner,
  );
  const lasted = one.ended_at ? span(one.ended_at - one.started_at) : "on now";
  return h(
    "li", { class: one.ended_at ? "" : "on" },
    h("p", { class: "meta" }, `${date(one.started_at)}, ${hour(one.started_at)} · ${lasted} · ${many(one.people, "person", "people")}`),
    h("h3", {}, one.title || "Untitled stream"), h("p", {}, one.recap || h("span", { class: "meta" }, one.ended_at ? "No recap." : "The recap is written when the stream ends.")),
    one.episodes ? details : h("p", { class: "meta" }, one.ended_at ? "No summary: too little was said." : "No summary yet."),
  );
}

async function episodes(id, inner) {
  const rows = await get(`stream/${id}`);
  put(inner, rows.map((one) => h("div", { class: "item episode" },
    h("p", { class: "meta" }, `${hour(one.started_at)} – ${hour(one.ended_at)} · ${many(one.events, "line")} · ${many(one.people, "person", "people")} · ${many(one.notes, "note")}`, one.topic && chip(one.topic)),
    h("p", {}, one.summary))));
}
