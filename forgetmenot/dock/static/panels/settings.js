import { h, redraw, button, changedOnly, soon } from "../dom.js";
import { get } from "../api.js";
import { reading, say, step } from "../ask.js";
import { language, t } from "../words.js";

let languages = {};

export function open(panel) {
  let rest = false;
  // What somebody is about to save is not drawn over by what another page changed.
  const writing = () => panel.querySelector(".save:not([hidden])") !== null;
  const draw = changedOnly((settings) => {
    const basic = settings.rows.filter((row) => row.basic), advanced = settings.rows.filter((row) => !row.basic);
    redraw(
      panel,
      h("div", { class: "row" }, h("a", { class: "button", href: "#setup" }, t("settings.setup"))),
      h("p", { class: "meta" }, settings.file ? t("settings.written", { file: settings.file }) : t("settings.not_written")),
      groups(basic),
      h("fieldset", {}, h("legend", {}, t("settings.computer")), autostart(settings.autostart)),
      h("details", { class: "box advanced", open: rest, ontoggle: (event) => { rest = event.target.open; } }, h("summary", { data: { key: "rest" } }, t("settings.advanced")), h("div", { class: "stack" }, groups(advanced))),
    );
  });
  return { changed: soon(reading(panel, () => Promise.all([get("settings"), get("setup")]), ([settings, setup]) => {
    languages = settings.languages;
    if (!writing()) draw({ ...settings, autostart: setup.autostart });
  })) };
}

function groups(rows) {
  const names = [...new Set(rows.map((row) => row.group))];
  return names.map((name) => h("fieldset", {}, h("legend", {}, name), rows.filter((row) => row.group === name).map(setting)));
}

function autostart(on) {
  const node = h("input", { id: "set-autostart", type: "checkbox", role: "switch", checked: on, onchange: async () => {
    const answer = await step("autostart", { on: node.checked }, node);
    if (answer) say(answer.line, answer.ok);
    if (!answer?.ok) node.checked = !node.checked;
  } });
  return h("div", { class: "setting switch" }, h("label", { for: "set-autostart" }, t("settings.autostart")), h("div", { class: "control" }, node),
    h("p", { class: "meta" }, t("settings.autostart_note")));
}

// What is wrong with a number; a limit of a billion is none.
function outside(value, { least, most, whole }) {
  const open = most === null || most >= 1e9;
  if (whole && !Number.isInteger(value)) return t("settings.whole");
  return (value < (least ?? value) || value > (most ?? value)) && t(open ? "settings.at_least" : "settings.between", { least, most });
}

const choice = (row, name) => (row.key === "mode" ? t(`mode.${name}.title`) : row.key === "language" ? languages[name] : t(`choice.${name}`));

function inWords(row, value) {
  if (row.form.kind === "choice") return choice(row, value);
  if (row.form.kind === "switch") return t(value ? "settings.on" : "settings.off");
  if (row.form.kind === "list") return value.join(", ") || t("settings.none");
  if (value === "") return t("settings.empty");
  return `${typeof value === "number" ? value.toLocaleString(language) : value}${row.suffix ? ` ${row.suffix}` : ""}`;
}

function setting(row) {
  const id = `set-${row.table}-${row.key}`;
  const save = button(t("save"), () => send(), { class: "primary small save", hidden: true });
  const control = build(row, id, { changed: () => { save.hidden = false; }, now: () => send() });
  let held = row.value;
  control.node.addEventListener("keydown", (event) => { if (event.key === "Enter" && control.node.tagName === "INPUT" && !save.hidden) send(); });
  async function send(value = control.read()) {
    if (value === null) return say(t("settings.no_number"), false);
    const wrong = row.form.kind === "number" && outside(value, row.form);
    if (wrong) return say(`${row.label}: ${wrong}`, false);
    const answer = await step("set", { table: row.table, key: row.key, value }, save);
    if (answer) say(answer.line, answer.ok);
    if (answer?.ok) { held = value; save.hidden = true; } else if (save.hidden) control.write(held); // what was typed stays
    return null;
  }
  const usual = row.table === "twitch" || JSON.stringify(row.value) === JSON.stringify(row.default);
  const long = row.form.long && row.default.length > 60;
  return h("div", { class: `setting ${row.form.kind}` },
    h("label", { for: id }, row.label),
    h("div", { class: "control" }, control.node, row.suffix && h("span", { class: "meta" }, row.suffix), save),
    h("p", { class: "meta" }, row.sentence, !long && ` ${t("settings.default", { value: inWords(row, row.default) })}`, !usual && button(t("settings.use_default"), () => { control.write(row.default); send(row.default); }, { class: "ghost small", data: { key: `default-${id}` } })));
}

function build(row, id, on) {
  const { form } = row;
  const props = { id, data: { key: id }, ...(form.kind === "choice" || form.kind === "switch" ? { onchange: on.now } : { oninput: on.changed }) };
  const node = {
    choice: () => h("select", props, form.choices.map((name) => h("option", { value: name }, choice(row, name)))),
    switch: () => h("input", { ...props, type: "checkbox", role: "switch" }),
    number: () => h("input", { ...props, type: "number", min: form.least, max: form.most, step: form.whole ? 1 : "any" }),
    list: () => h("input", { ...props, type: "text", placeholder: t("settings.list") }),
    text: () => (form.long ? h("textarea", { ...props, rows: 4, maxlength: form.most }) : h("input", { ...props, type: "text" })),
  }[form.kind]();
  const read = {
    switch: () => node.checked,
    number: () => (node.value === "" || Number.isNaN(Number(node.value)) ? null : Number(node.value)),
    list: () => node.value.split(",").map((word) => word.trim()).filter(Boolean),
  }[form.kind] || (() => node.value);
  function write(value) {
    if (form.kind === "switch") node.checked = value;
    else node.value = form.kind === "list" ? value.join(", ") : value;
  }
  write(row.value);
  return { node, read, write };
}
