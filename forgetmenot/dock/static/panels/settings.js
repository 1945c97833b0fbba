import { h, redraw, button, changedOnly, soon } from "../dom.js";
import { get } from "../api.js";
import { act, failed, say } from "../ask.js";

const TITLES = { bot: "The bot", reply: "Replies", actions: "Actions", recall: "Recall", people: "People", memory: "Memory", privacy: "Privacy" };
const words = (key) => key.replaceAll("_", " ").replace(/ s$/, " (seconds)").replace(/ d$/, " (days)").replace(/ min$/, " (minutes)").replace(/ h$/, " (hours)").replace(/^class (.)$/, (_, letter) => `class ${letter.toUpperCase()}`);

export function open(room) {
  let rest = false;
  async function refresh() {
    try {
      const told = await get("settings");
      if (!writing()) draw(told);
    } catch (problem) {
      failed(room, problem, refresh);
    }
  }
  // What somebody is about to save is not drawn over by what another page changed.
  const writing = () => room.querySelector(".save:not([hidden])") !== null;
  const draw = changedOnly((told) => {
    const tables = told.tables.map((table) => ({ ...table, live: table.rows.filter((one) => one.form), rest: table.rows.filter((one) => !one.form) }));
    redraw(
      room,
      h("p", { class: "lead" }, told.file ? `A change here is written to ${told.file}, comments and all, and counts from the next message on.` : "No settings file was named at the start: a change here lasts until the bot stops. Start it with --config FILE to keep them."),
      tables.filter((table) => table.live.length).map((table) => h(
        "fieldset", {}, h("legend", {}, TITLES[table.name] || table.name), [...table.live].sort((a, b) => (b.key === "mode") - (a.key === "mode")).map((one) => setting(table.name, one)))),
      h("details", { class: "box", open: rest, ontoggle: (event) => { rest = event.target.open; } }, h("summary", { data: { key: "rest" } }, "Everything else"),
        h("p", { class: "meta" }, told.file ? `These are changed in ${told.file}; they count from the next start on.` : "These are changed in a settings file; config.example.toml tells them all."),
        tables.filter((table) => table.rest.length).map((table) => h(
          "table", { class: "figures" }, h("caption", {}, `[${table.name}]`),
          h("tbody", {}, table.rest.map((one) => h("tr", {}, h("th", { scope: "row", title: one.told }, one.key), h("td", {}, shown(one.value)))))))),
    );
  });
  refresh();
  return { changed: soon(refresh) };
}

const shown = (value) => (Array.isArray(value) ? value.join(", ") || "none" : value === "" ? "—" : value === true ? "yes" : value === false ? "no" : typeof value === "object" ? Object.keys(value).join(", ") || "none" : String(value));

function setting(table, one) {
  const id = `set-${table}-${one.key}`;
  const save = button("Save", () => send(), { class: "primary small save", hidden: true });
  const control = build(one.form, one.value, id, { changed: () => { save.hidden = false; }, now: () => send() });
  let held = one.value;
  control.node.addEventListener("keydown", (event) => { if (event.key === "Enter" && control.node.tagName === "INPUT" && !save.hidden) send(); });
  async function send() {
    const value = control.read();
    if (value === null) return say("That is no number.", false);
    const ok = await act("set", { table, key: one.key, value }, save);
    if (ok) { held = value; save.hidden = true; } else control.write(held);
  }
  return h("div", { class: `setting ${one.form.kind}` }, h("label", { for: id }, words(one.key)), h("div", { class: "control" }, control.node, save), one.told && h("p", { class: "meta" }, one.told));
}

function build(form, value, id, on) {
  if (form.kind === "choice") {
    const node = h("select", { id, data: { key: id }, onchange: on.now }, form.choices.map((name) => h("option", { value: name, selected: name === value }, name)));
    return { node, read: () => node.value, write: (old) => { node.value = old; } };
  }
  if (form.kind === "switch") {
    const node = h("input", { id, data: { key: id }, type: "checkbox", role: "switch", checked: value, onchange: on.now });
    return { node, read: () => node.checked, write: (old) => { node.checked = old; } };
  }
  if (form.kind === "number") {
    const node = h("input", { id, data: { key: id }, type: "number", value, min: form.least, max: form.most, step: form.whole ? 1 : "any", oninput: on.changed });
    return { node, read: () => (node.value === "" || Number.isNaN(Number(node.value)) ? null : Number(node.value)), write: (old) => { node.value = old; } };
  }
  if (form.kind === "list") {
    const node = h("input", { id, data: { key: id }, type: "text", value: value.join(", "), placeholder: "none; or one, two, three", oninput: on.changed });
    return { node, read: () => node.value.split(",").map((word) => word.trim()).filter(Boolean), write: (old) => { node.value = old.join(", "); } };
  }
  const node = form.long ? h("textarea", { id, data: { key: id }, rows: 4, oninput: on.changed }) : h("input", { id, data: { key: id }, type: "text", oninput: on.changed });
  node.value = value;
  return { node, read: () => node.value, write: (old) => { node.value = old; } };
}
