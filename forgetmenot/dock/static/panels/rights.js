import { h, put, button, chip } from "../dom.js";
import { get, download } from "../api.js";
import { act, confirmed, say } from "../ask.js";
import { windowed } from "../list.js";
import { ago, many } from "../words.js";

export async function erase(person, from) {
  const name = person.login || person.name;
  const sure = await confirmed({
    title: `Erase ${person.name}?`, yes: "Erase for good", type: name,
    text: "Their notes, lines, names and every mention of them go from the memory, the log and the free space of the file. It cannot be undone.",
  });
  return sure && act("erase", { viewer: person.id }, from);
}

export async function exported(person) {
  try {
    download(`forgetmenot-${person.login || person.id}.json`, await get(`export/${encodeURIComponent(person.id)}`));
  } catch (problem) {
    say(problem.message, false);
  }
}

export function open(room) {
  const find = h("input", { type: "search", id: "rights-find", placeholder: "A name, old or new", maxlength: 50, oninput: soon });
  const list = windowed({
    label: "People", rowHeight: 92, nothing: "Nobody is called that.",
    fetchPage: (offset, limit) => get("people", { find: find.value, offset, limit }), row,
  });
  const out = h("section", {});
  let timer = 0;
  function soon() {
    clearTimeout(timer);
    timer = setTimeout(refresh, 200);
  }
  async function refresh() {
    try {
      await list.reload();
      const told = await get("people", { only: "opted_out", limit: 200 });
      put(out, told.total > 0 && [h("h2", {}, "Opted out"), told.rows.map(row)]);
    } catch (problem) {
      say(problem.message, false);
    }
  }
  function row(person) {
    const then = async (done) => { if (await done) refresh(); };
    return h(
      "div", { class: "item person" },
      h("p", {}, h("a", { href: `#memory/person/${encodeURIComponent(person.id)}` }, person.name), person.opted_out && chip("opted out", "warn"), person.erasing && chip("being erased", "warn"),
        h("span", { class: "meta" }, ` ${many(person.notes, "note")} · seen ${ago(person.last_seen_at)}`)),
      h("div", { class: "row" },
        button("Export", () => exported(person), { class: "small" }),
        button(person.opted_out ? "Let in again" : "Opt out", (event) => then(act("opt_out", { viewer: person.id, on: !person.opted_out }, event.target)), { class: "small" }),
        button("Erase", (event) => then(erase(person, event.target)), { class: "small danger" })),
    );
  }
  put(
    room,
    h("p", { class: "lead" }, "Everybody may see what is kept about them, stay out of it, and have it erased: by typing !memory, !optout or !forgetme in chat, or by asking you."),
    h("label", { class: "field", for: "rights-find" }, "Whom is it about?", find), list.root, out,
  );
  refresh();
  return { close: list.close };
}
