import { h, put, redraw, button, chip, soon } from "../dom.js";
import { get, download } from "../api.js";
import { act, confirmed, does, label, say, sheet } from "../ask.js";
import { windowed } from "../list.js";
import { listen } from "../live.js";
import { ROLES, ago, many } from "../words.js";

export async function erase(person, from) {
  const name = person.login || person.name;
  const sure = await confirmed({
    title: `Erase ${person.name}?`, yes: "Erase permanently", type: name,
    text: "This permanently deletes their notes, messages, names and every mention of them from the memory, the log and the free space of the file. It cannot be undone.",
  });
  return sure && erasing(person, from);
}

const STEPS = { hiding: "Hiding them.", "rebuilding the file": "Rebuilding the file, so that no deleted data stays in it.", "log files": "Cleaning the log files.", done: "Done." };

// In a memory of years it takes some seconds: how far it is comes by the stream of events.
async function erasing(person, from) {
  const gauge = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const step = h("p", { class: "meta", role: "status" }, STEPS.hiding);
  const dialog = sheet(`Erasing ${person.name}`, gauge, step);
  const stop = listen((what, told) => {
    if (what !== "erasing" || told.viewer !== person.id) return;
    gauge.value = told.share;
    put(step, STEPS[told.what] || "Removing them from others' messages, summaries and replies.");
  });
  try {
    return await act("erase", { viewer: person.id, confirm: true }, from);
  } finally {
    stop();
    dialog.close();
  }
}

const choice = (person) => (person.opted_out ? "opt_in" : "opt_out");
export const optOut = (person, then) =>
  button(label(choice(person)), (event) => then(act(choice(person), { viewer: person.id }, event.target)), { class: "small", title: does(choice(person)), data: { key: `optout${person.id}` } });

export async function exported(person) {
  try {
    download(`forgetmenot-${person.login || person.id}.json`, await get(`export/${encodeURIComponent(person.id)}`));
  } catch (problem) {
    say(problem.message, false);
  }
}

export function open(room) {
  const find = h("input", { type: "search", id: "rights-find", placeholder: "Current or former name", maxlength: 50, oninput: typed });
  const list = windowed({
    label: "People", rowHeight: 92, nothing: () => (find.value ? "No viewer with that name." : "No viewers yet."),
    fetchPage: (offset, limit) => get("people", { find: find.value, offset, limit }), row,
  });
  const out = h("section", {});
  let timer = 0;
  function typed() {
    clearTimeout(timer);
    timer = setTimeout(() => list.reload(), 200);
  }
  async function optedOut() {
    const told = await get("people", { only: "opted_out", limit: 200 }).catch(() => null);
    if (told) redraw(out, told.total > 0 && [h("h2", {}, "Opted out"), told.rows.map(row)]);
  }
  const refresh = () => Promise.all([list.refresh(), optedOut()]);
  function row(person) {
    const then = async (done) => { if (await done) refresh(); };
    return h(
      "div", { class: "item person" },
      h("p", {}, h("a", { href: `#memory/person/${encodeURIComponent(person.id)}` }, person.name), person.opted_out && chip("opted out", "warn"), ROLES[person.role] && chip(ROLES[person.role]), person.erasing && chip("being erased", "warn"),
        h("span", { class: "meta" }, ` ${many(person.notes, "note")} · seen ${ago(person.last_seen_at)}`)),
      h("div", { class: "row" },
        button("Export", () => exported(person), { class: "small", data: { key: `export${person.id}` } }),
        optOut(person, then),
        button(label("erase"), (event) => then(erase(person, event.target)), { class: "small danger", data: { key: `erase${person.id}` } })),
    );
  }
  put(
    room,
    h("p", { class: "lead" }, "Viewers can see what is stored about them, opt out and have it erased. They type !memory, !optout or !forgetme in chat, or ask you."),
    h("label", { class: "field", for: "rights-find" }, "Which viewer?", find), list.root, out,
  );
  refresh();
  return { close: list.close, changed: soon(refresh, 3000) };
}
