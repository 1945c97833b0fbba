// One note as a card, with everything that can be done to it.

import { h, put, button, chip } from "../dom.js";
import { get } from "../api.js";
import { does, doing, label, result } from "../ask.js";
import { ago, clock, date, span, sure, t } from "../words.js";

const times = (note) => date(note.said_at) === date(note.confirmed_at) ? ago(note.confirmed_at) : t("note.said", { first: date(note.said_at), last: ago(note.confirmed_at) });

function sourceOf(note) {
  if (!note.edited) return t(`source.${note.source}`);
  if (note.edited_by_you) return t("source.edited_by_you");
  return note.edited_by ? t("source.edited_by", { name: note.edited_by }) : t("source.edited"); // whoever is hidden has no name here
}

// A note as a sentence in three parts: of whom, what, and how it is known.
export const wordsOf = (note) => ({ who: note.who || (note.scope === "running_bit" ? t("scope.running_bit") : ""), text: note.fact, said: sourceOf(note) });

// What somebody typed without the name, which stands before the field.
const without = (text, name) => {
  const typed = text.trim().replace(/^@/, "");
  return name && typed.toLowerCase().startsWith(`${name.toLowerCase()} `) ? typed.slice(name.length + 1).trim() : text.trim();
};

// The whole sentence to correct, with the name as its fixed part. `saved` gets the note as it is then.
export function editor(note, cancel, saved) {
  const field = h("textarea", { rows: 2, maxlength: 200, "aria-label": t("parameter.fact") });
  field.value = note.fact;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey)) return;
    event.preventDefault();
    if (event.key === "Escape") cancel();
    else form.requestSubmit();
  });
  const form = h("form", {
    async onsubmit(event) {
      event.preventDefault();
      const text = without(field.value, note.who);
      const answer = await result("edit", { id: note.id, text }, event.submitter);
      if (answer.ok) saved(await get(`note/${answer.id ?? note.id}`).catch(() => ({ ...note, fact: text })));
    },
  }, h("div", { class: "whole" }, note.who && h("span", { class: "fixed" }, note.who), field), h("div", { class: "row end" }, button(t("cancel"), cancel, { class: "ghost small" }), h("button", { type: "submit", class: "primary small" }, t("save"))));
  queueMicrotask(() => field.focus()); // as soon as it stands in the page
  return form;
}

// `named`: with whose note it is. `moved`: called with the note when it was edited, where the list does not show it.
export function noteCard(note, refresh, named = false, moved = null) {
  const live = note.status === "active";
  const card = h("div", { class: `item notecard ${note.status}`, data: { note: note.id } });
  const key = (name) => ({ data: { key: `${name}${note.id}` } });
  const tool = (name, body = { id: note.id }) => doing(name, body, refresh, key(name));
  const edit = () => put(card, editor(note, cancel, edited));
  function cancel() {
    show();
    card.querySelector("button")?.focus();
  }
  function edited(changed) {
    note = changed;
    show();
    moved?.(note);
    refresh();
  }

  function show() {
    const { who, text, said } = wordsOf(note);
    const lifetime = note.expires_at && (note.expires_at > clock.now() ? t("note.left", { span: span(note.expires_at - clock.now()) }) : t("status.expired"));
    put(
      card,
      h("p", { class: "fact" }, (named || note.scope === "running_bit") && who && h("b", {}, `${who} `), text, " ", note.pinned && chip(t("note.pinned"), "good"), note.left_alone && chip(t("note.never_mentioned"), "warn"), !live && chip(t(`status.${note.status}`)), live && note.stale && chip(t("status.stale"))),
      h("p", { class: "meta" }, [sure(note.confidence), said, times(note), lifetime].filter(Boolean).join(" · "), " · ", h("a", { href: `#memory/note/${note.id}` }, `#${note.id}`)),
      h("div", { class: "row tools" },
        live && button(label("edit"), edit, { class: "ghost small", title: does("edit"), ...key("edit") }),
        live && tool(note.pinned ? "unpin" : "pin"),
        live && !note.left_alone && tool("never_mention", { id: note.id, viewer: note.subject, what: `#${note.id}` }),
        note.left_alone && tool("may_mention", { id: note.left_alone }),
        live && doing("retract", { id: note.id }, refresh, { ...key("retract"), undo: { name: "restore", body: { id: note.id } } }),
        !live && tool("restore")),
    );
  }

  show();
  return card;
}
