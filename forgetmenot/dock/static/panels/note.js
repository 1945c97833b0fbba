// One note as a card, with everything that can be done to it.

import { h, put, button, chip } from "../dom.js";
import { act, does, label } from "../ask.js";
import { SOURCES, ago, clock, many, span, sure } from "../words.js";

const LIVE = new Set(["active", "stale"]);

export function noteCard(one, refresh, named = false) {
  const live = LIVE.has(one.status);
  const card = h("div", { class: `item notecard ${one.status}`, data: { note: one.id } });
  const go = async (name, body, event, undo = null) => { if (await act(name, { id: one.id, ...body }, event.target, undo)) refresh(); };
  const tool = (name, call) => button(label(name), call, { class: "ghost small", title: does(name), data: { key: `${name}${one.id}` } });
  const meter = h("i", {});
  meter.style.width = `${one.confidence * 100}%`;
  const about = one.who || (one.scope === "viewer" ? "somebody" : one.scope === "channel" ? "the channel" : "running joke");
  const lifetime = !one.expires_at ? "permanent" : one.expires_at > clock.now() ? `${span(one.expires_at - clock.now())} left` : "expired";

  function show() {
    put(
      card,
      h("p", { class: "fact" }, (named || one.scope === "running_bit") && h("b", {}, `${about} `), one.fact, " ", one.pinned && chip("pinned", "good"), one.left_alone && chip("never mentioned", "warn"), !live && chip(one.status)),
      h("p", { class: "meta" }, h("span", { class: "meter", title: `confidence ${one.confidence}` }, meter), `${sure(one.confidence)} · ${SOURCES[one.source]} · ${ago(one.confirmed_at)} · ${lifetime} · `,
        h("a", { href: `#memory/note/${one.id}` }, `#${one.id}, ${many(one.episodes, "episode")}`)),
      h("div", { class: "row tools" },
        live && tool("edit", edit),
        live && tool(one.pinned ? "unpin" : "pin", (event) => go(one.pinned ? "unpin" : "pin", {}, event)),
        live && !one.left_alone && tool("never_mention", (event) => go("never_mention", { viewer: one.subject, what: `#${one.id}` }, event)),
        one.left_alone && tool("may_mention", async (event) => { if (await act("may_mention", { id: one.left_alone }, event.target)) refresh(); }),
        live && tool("retract", (event) => go("retract", {}, event, { name: "restore", body: { id: one.id } })),
        !live && tool("restore", (event) => go("restore", {}, event))),
    );
  }

  function edit() {
    const field = h("textarea", { rows: 2, maxlength: 200, "aria-label": "The fact" });
    field.value = one.fact;
    put(card, h("form", {
      async onsubmit(event) {
        event.preventDefault();
        if (!(await act("edit", { id: one.id, text: field.value }, event.submitter))) return;
        show(); // nobody writes here any more: the list may change
        refresh();
      },
    }, field, h("p", { class: "meta" }, "The old version stays in the history. Mention people as @login."), h("div", { class: "row end" }, button("Cancel", () => { show(); card.querySelector("button")?.focus(); }, { class: "ghost small" }), h("button", { type: "submit", class: "primary small" }, "Save"))));
    field.focus();
  }

  show();
  return card;
}
