import { h, put, redraw, button, changedOnly, sentence, soon } from "../dom.js";
import { get } from "../api.js";
import { change, copying, reading } from "../ask.js";
import { ago, language, named, t } from "../words.js";

const MOODS = { ok: "good", warn: "", bad: "bad" };
let languages = {};

export function open(panel) {
  const checks = h("section", { class: "checks" });
  const body = h("div", { class: "stack" });
  put(panel, checks, body);
  const health = checkList(checks);
  const find = h("input", { type: "search", "aria-label": t("settings.find"), placeholder: t("settings.find"), oninput: filter });
  let rest = false;
  // What somebody is about to save is not drawn over by what another page changed.
  const writing = () => body.querySelector(".save:not([hidden])") !== null;
  const draw = changedOnly((settings) => {
    const basic = settings.rows.filter((row) => row.basic), advanced = settings.rows.filter((row) => !row.basic);
    redraw(
      body,
      h("div", { class: "row" }, h("a", { class: "button small", href: "#setup" }, t("panel.setup")), h("a", { class: "button small", href: "#costs" }, t("panel.costs")), h("a", { class: "button small", href: "/earpiece", target: "_blank", rel: "opener" }, t("panel.earpiece")), obs()),
      h("p", { class: "meta" }, settings.file && t("settings.written", { file: settings.file })),
      find,
      h("div", { class: "groups" }, groups(basic),
        h("fieldset", {}, autostart(settings.autostart), settings.quit && h("div", { class: "row setting" }, button(t("settings.quit"), quit, { class: "danger" })))),
      h("details", { class: "box advanced", open: rest, ontoggle: (event) => { if (!find.value) rest = event.target.open; } }, h("summary", { data: { key: "rest" } }, t("settings.advanced")), h("div", { class: "groups" }, groups(advanced))),
    );
    filter();
  });
  async function quit(event) {
    if (await change("quit", {}, event.currentTarget)) dispatchEvent(new Event("quit"));
  }
  // Whatever has none of the words in its name or its sentence is left out.
  function filter() {
    const words = find.value.trim().toLowerCase();
    const shown = (node) => node.querySelector(".setting:not([hidden])") !== null;
    for (const row of body.querySelectorAll(".setting")) row.hidden = !row.textContent.toLowerCase().includes(words);
    for (const group of body.querySelectorAll("fieldset")) group.hidden = !shown(group);
    const more = body.querySelector(".advanced");
    more.hidden = words !== "" && !shown(more);
    more.open = words ? shown(more) : rest;
  }
  const refresh = reading(body, () => Promise.all([get("settings"), get("setup")]), ([settings, setup]) => {
    languages = settings.languages;
    if (!writing()) draw({ ...settings, autostart: setup.autostart, quit: setup.quit });
  });
  return { changed: soon(() => { refresh(); health.again(); }), tick: health.tick };
}

// How each part is. Everything (the computer, the files, the network) is asked when somebody presses the button.
function checkList(node) {
  let everything = false;
  const draw = changedOnly(({ checks, backed_up_at: at }) => {
    const wrong = checks.filter((check) => check.state !== "ok");
    redraw(
      node,
      wrong.map((check) => h("div", { class: `item health ${MOODS[check.state]}` },
        h("p", {}, h("i", { class: `dot ${MOODS[check.state]}` }), h("b", {}, check.name), " ", sentence(check.line)), check.fix && h("p", { class: "meta fix" }, sentence(check.fix)))),
      h("details", {}, h("summary", { class: "meta", data: { key: "fine" } }, h("i", { class: "dot good" }), ` ${t("settings.well")}`),
        h("ul", { class: "plain" }, checks.filter((check) => check.state === "ok").map((check) => h("li", {}, h("b", {}, check.name), " ", sentence(check.line))))),
      h("div", { class: "row" },
        button(t("settings.check_all"), (event) => { everything = true; event.target.disabled = true; refresh(); }, { class: "small", data: { key: "all" } }),
        button(t("settings.back_up"), backUp, { class: "small", data: { key: "backup" } }), h("span", { class: "meta" }, at ? t("settings.backed_up", { ago: ago(at) }) : t("settings.no_backup"))),
    );
  });
  const refresh = reading(node, async () => ({ asked: everything, ...await get("checks", { all: everything ? 1 : "" }) }), draw);
  const again = () => { if (!everything) refresh(); };
  async function backUp(event) {
    await change("backup", {}, event.target);
    again();
  }
  return { again, tick: soon(again, 10_000) };
}

// The page on disk that OBS is pointed to: its address to copy, and where in OBS it goes.
export const obs = () => toCopy("obs", { add: t("obs.add"), how: t("obs.how"), address: t("obs.address") });
const connect = () =>
  toCopy("connect", { add: t("connect.add"), how: t("connect.how"), address: t("connect.address"), token: t("connect.token") });

// A button that shows what is to be copied into another program, and how.
function toCopy(step, { add, how, ...fields }) {
  const place = h("div", { class: "stack" });
  const line = (title, value) => {
    const field = h("input", { type: "text", readonly: true, value, "aria-label": title, title, onfocus: () => field.select() });
    return h("div", { class: "row line-form" }, field, copying(field, t("copy")));
  };
  return h("div", { class: "stack obs" }, button(add, async (event) => {
    const answer = await change(step, {}, event.target);
    if (answer) put(place, Object.entries(fields).map(([name, title]) => line(title, answer[name])), h("p", { class: "meta" }, sentence(how)));
  }), place);
}

function groups(rows) {
  const names = [...new Set(rows.map((row) => row.group))];
  return names.map((name) => h("fieldset", {}, h("legend", {}, name), rows.filter((row) => row.group === name).map(setting)));
}

function autostart(on) {
  const node = h("input", { id: "set-autostart", type: "checkbox", role: "switch", checked: on, onchange: async () => {
    if (!(await change("autostart", { on: node.checked }, node))) node.checked = !node.checked;
  } });
  return h("div", { class: "setting switch" }, h("label", { for: "set-autostart" }, t("settings.autostart")), h("div", { class: "control" }, node));
}

const choice = (row, name) => (row.key === "mode" ? t(`mode.${name}.title`) : row.key === "language" ? languages[name] : named("choice", name, named("status", name)));

function inWords(row, value) {
  if (row.form.kind === "choice") return choice(row, value);
  if (row.form.kind === "switch") return t(value ? "settings.on" : "choice.off");
  if (row.form.kind === "list") return value.join(", ") || t("settings.none");
  if (value === "") return t("settings.none");
  return typeof value === "number" ? value.toLocaleString(language) : value;
}

export function setting(row) {
  const id = `set-${row.table}-${row.key}`;
  const save = button(t("save"), () => send(), { class: "primary small save", hidden: true });
  const control = build(row, id, { changed: () => { save.hidden = false; }, now: () => send() });
  let held = row.value;
  control.node.addEventListener("keydown", (event) => { if (event.key === "Enter" && control.node.tagName === "INPUT" && !save.hidden) send(); });
  async function send(value = control.read()) {
    if (await change("set", { table: row.table, key: row.key, value }, save)) { held = value; save.hidden = true; } else if (save.hidden) control.write(held); // what was typed stays
  }
  const usual = row.table === "twitch" || JSON.stringify(row.value) === JSON.stringify(row.default);
  const long = row.form.long && row.default.length > 60;
  return h("div", { class: `setting ${row.form.kind}${row.form.long ? " long" : ""}` },
    h("label", { for: id }, row.label),
    h("div", { class: "control" }, control.node, save),
    h("p", { class: "meta" }, row.sentence, !long && !usual && ` ${t("settings.default", { value: inWords(row, row.default) })}`, !usual && button(t("settings.use_default"), () => { control.write(row.default); send(row.default); }, { class: "ghost small", data: { key: `default-${id}` } })),
    row.table === "local_api" && row.value && connect());
}

function build(row, id, on) {
  const { form } = row;
  const props = { id, data: { key: id }, ...(form.kind === "choice" || form.kind === "switch" ? { onchange: on.now } : { oninput: on.changed }) };
  const node = {
    choice: () => h("select", props, form.choices.map((name) => h("option", { value: name }, choice(row, name)))),
    switch: () => h("input", { ...props, type: "checkbox", role: "switch" }),
    number: () => h("input", { ...props, type: "number", min: form.least, max: form.most, step: form.whole ? 1 : "any" }),
    list: () => h("input", { ...props, type: "text", placeholder: "a, b" }),
    text: () => (form.long ? h("textarea", { ...props, rows: form.most > 1000 ? 3 : 2, maxlength: form.most }) : h("input", { ...props, type: "text" })),
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
