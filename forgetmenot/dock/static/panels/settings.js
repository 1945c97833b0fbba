import { h, redraw, button, changedOnly, soon } from "../dom.js";
import { get } from "../api.js";
import { failed, say, step } from "../ask.js";
import { CHOICES, MODES } from "../words.js";

export function open(room) {
  let rest = false;
  async function refresh() {
    try {
      const [told, setup] = await Promise.all([get("settings"), get("setup")]);
      if (!writing()) draw({ ...told, autostart: setup.autostart });
    } catch (problem) {
      failed(room, problem, refresh);
    }
  }
  // What somebody is about to save is not drawn over by what another page changed.
  const writing = () => room.querySelector(".save:not([hidden])") !== null;
  const draw = changedOnly((told) => {
    const basic = told.rows.filter((one) => one.basic), advanced = told.rows.filter((one) => !one.basic);
    redraw(
      room,
      h("div", { class: "row" }, h("a", { class: "button", href: "#setup" }, "Set up step by step")),
      h("p", { class: "meta" }, told.file ? `Changes count at once and are written to ${told.file}.` : "Changes count at once and last until the bot stops."),
      groups(basic),
      h("fieldset", {}, h("legend", {}, "This computer"), autostart(told.autostart)),
      h("details", { class: "box advanced", open: rest, ontoggle: (event) => { rest = event.target.open; } }, h("summary", { data: { key: "rest" } }, "Advanced"), h("div", { class: "stack" }, groups(advanced))),
    );
  });
  refresh();
  return { changed: soon(refresh) };
}

function groups(rows) {
  const names = [...new Set(rows.map((one) => one.group))];
  return names.map((name) => h("fieldset", {}, h("legend", {}, name), rows.filter((one) => one.group === name).map(setting)));
}

function autostart(on) {
  const node = h("input", { id: "set-autostart", type: "checkbox", role: "switch", checked: on, onchange: async () => {
    const told = await step("autostart", { on: node.checked }, node);
    if (told) say(told.line, told.ok);
    if (!told?.ok) node.checked = !node.checked;
  } });
  return h("div", { class: "setting switch" }, h("label", { for: "set-autostart" }, "Start with this computer"), h("div", { class: "control" }, node),
    h("p", { class: "meta" }, "The bot starts when you log in, without a window. Default: off."));
}

const choice = (one, name) => (one.key === "mode" ? MODES[name][0] : CHOICES[name] || name);

function inWords(one, value) {
  if (one.form.kind === "choice") return choice(one, value);
  if (one.form.kind === "switch") return value ? "on" : "off";
  if (one.form.kind === "list") return value.join(", ") || "none";
  return value === "" ? "empty" : `${value}${one.suffix ? ` ${one.suffix}` : ""}`;
}

function setting(one) {
  const id = `set-${one.table}-${one.key}`;
  const save = button("Save", () => send(), { class: "primary small save", hidden: true });
  const control = build(one, id, { changed: () => { save.hidden = false; }, now: () => send() });
  let held = one.value;
  control.node.addEventListener("keydown", (event) => { if (event.key === "Enter" && control.node.tagName === "INPUT" && !save.hidden) send(); });
  async function send(value = control.read()) {
    if (value === null) return say("That is not a number.", false);
    const told = await step("set", { table: one.table, key: one.key, value }, save);
    if (told) say(told.line, told.ok);
    if (told?.ok) { held = value; save.hidden = true; } else control.write(held);
    return null;
  }
  const usual = one.table === "twitch" || JSON.stringify(one.value) === JSON.stringify(one.default);
  const long = one.form.long && one.default.length > 60;
  return h("div", { class: `setting ${one.form.kind}` },
    h("label", { for: id }, one.label),
    h("div", { class: "control" }, control.node, one.suffix && h("span", { class: "meta" }, one.suffix), save),
    h("p", { class: "meta" }, one.sentence, !long && ` Default: ${inWords(one, one.default)}.`, !usual && button("Use the default", () => { control.write(one.default); send(one.default); }, { class: "ghost small", data: { key: `default-${id}` } })));
}

function build(one, id, on) {
  const { form, value } = one;
  if (form.kind === "choice") {
    const node = h("select", { id, data: { key: id }, onchange: on.now }, form.choices.map((name) => h("option", { value: name, selected: name === value }, choice(one, name))));
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
