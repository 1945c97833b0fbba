import { h, put, redraw, button, chip, soon } from "../dom.js";
import { get, download } from "../api.js";
import { act, confirmed, does, label, result, say, sheet } from "../ask.js";
import { windowed } from "../list.js";
import { listen } from "../live.js";
import { ago, named, t } from "../words.js";

export async function erase(person, from) {
  const sure = await confirmed({ title: t("rights.erase", { name: person.name }), yes: t("rights.erase_yes"), type: person.login || person.name, text: t("rights.erase_text") });
  return sure && erasing(person, from);
}

// In a memory of years it takes some seconds: how far it is comes by the stream of events. It ends with its receipt.
async function erasing(person, from) {
  const gauge = h("progress", { max: 1, value: 0, "aria-label": t("rights.progress") });
  const step = h("p", { class: "meta", role: "status" }, t("rights.step.hiding"));
  const dialog = sheet(t("rights.erasing", { name: person.name }), gauge, step);
  const stop = listen((what, progress) => {
    if (what !== "erasing" || progress.viewer !== person.id) return;
    gauge.value = progress.share;
    put(step, named("rights.step", progress.what, t("rights.step.others")));
  });
  const answer = await result("erase", { viewer: person.id, confirm: true }, from);
  stop();
  dialog.close();
  if (answer.receipt) sheet(t("rights.erased", { name: person.name }), h("p", {}, answer.line), h("p", {}, h("b", { class: "user-code" }, answer.receipt)), h("p", { class: "meta" }, t("rights.receipt_note")));
  return answer.ok;
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

// What somebody is called here, besides their name.
export const marks = (person) => [person.regular && chip(t("people.regular"), "good"), person.role !== "viewer" && chip(t(`role.${person.role}`)), person.opted_out && chip(t("people.opted_out"), "warn"), person.banned && chip(t("people.hidden"), "warn"), person.erasing && chip(t("people.erasing"), "warn")];

function receipt() {
  const code = h("input", { type: "text", id: "receipt", autocomplete: "off", maxlength: 20, placeholder: "K7Q2-9FHD", required: true });
  const check = h("button", { type: "submit" }, label("receipt"));
  const found = h("p", { class: "outcome", role: "status" });
  async function run(event) {
    event.preventDefault();
    found.className = "outcome";
    put(found, t("rights.searching"));
    const answer = await result("receipt", { code: code.value }, check);
    found.className = `outcome ${answer.ok ? "good" : "bad"}`;
    put(found, answer.line);
  }
  return h("details", { class: "box" }, h("summary", {}, t("rights.receipt")), h("div", { class: "stack" }, h("p", { class: "meta" }, t("rights.receipt_about")),
    h("form", { class: "row line-form", onsubmit: run }, h("label", { class: "out", for: "receipt" }, t("rights.receipt_code")), code, check), found));
}

export function open(panel) {
  const find = h("input", { type: "search", id: "rights-find", placeholder: t("people.find_example"), maxlength: 50, oninput: typed });
  const list = windowed({
    label: t("memory.people"), rowHeight: 92, nothing: () => t(find.value ? "people.not_found" : "people.none"),
    fetchPage: (offset, limit) => get("people", { find: find.value, offset, limit }), row,
  });
  const out = h("section", {});
  let timer = 0;
  function typed() {
    clearTimeout(timer);
    timer = setTimeout(() => list.reload(), 200);
  }
  async function optedOut() {
    const people = await get("people", { only: "opted_out", limit: 200 }).catch(() => null);
    if (people) redraw(out, people.total > 0 && [h("h2", {}, t("rights.opted_out")), people.rows.map(row)]);
  }
  const refresh = () => Promise.all([list.refresh(), optedOut()]);
  function row(person) {
    const then = async (done) => { if (await done) refresh(); };
    return h(
      "div", { class: "item person" },
      h("p", {}, h("a", { href: `#memory/person/${encodeURIComponent(person.id)}` }, person.name), marks({ ...person, regular: false }),
        h("span", { class: "meta" }, ` ${t("count.notes", { n: person.notes })} · ${t("people.seen", { ago: ago(person.last_seen_at) })}`)),
      h("div", { class: "row" },
        button(t("rights.export"), () => exported(person), { class: "small", data: { key: `export${person.id}` } }),
        optOut(person, then),
        button(label("erase"), (event) => then(erase(person, event.target)), { class: "small danger", data: { key: `erase${person.id}` } })),
    );
  }
  put(panel, h("p", { class: "lead" }, t("rights.lead")), receipt(), h("label", { class: "field", for: "rights-find" }, t("rights.which"), find), list.root, out);
  refresh();
  return { close: list.close, changed: soon(refresh, 3000) };
}
