import { h, redraw, button, chip, changedOnly, heading, sentence } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { ago, count, t } from "../words.js";

const MOODS = { ok: "good", warn: "", bad: "bad" };
const DISMISSED = "forgetmenot-dismissed-checks";
const dismissed = () => new Set(JSON.parse(localStorage.getItem(DISMISSED) || "[]"));

export function open(panel) {
  let everything = false; // the computer and the network were asked as well: that takes seconds, and is not repeated by itself
  const draw = changedOnly((data) => redraw(
    panel,
    heading(t("health.status"), button(t(everything ? "health.check_again" : "health.check_all"), checkAll, { class: "small", data: { key: "all" } })),
    h("div", { class: "stack" }, data.checks.filter((check) => !(check.state === "warn" && dismissed().has(check.line))).map((check) => h(
      "div", { class: `item health ${MOODS[check.state]}` },
      h("p", {}, h("i", { class: `dot ${MOODS[check.state]}` }), h("b", {}, check.name), " ", sentence(check.line)),
      check.fix && h("div", { class: "row" }, h("p", { class: "meta fix" }, sentence(check.fix)), check.state === "warn" && button(t("dismiss"), () => dismiss(check, data), { class: "ghost small", data: { key: check.name } })),
      h("span", { class: "out" }, t(`health.${check.state}`))))),
    h("h2", {}, t("health.promises")),
    h("table", { class: "figures" }, h("thead", { class: "out" }, h("tr", {}, h("th", {}, t("health.promise")), h("th", {}, t("health.figure")))),
      h("tbody", {}, data.promises.map((promise) => h("tr", { class: promise.kept === false ? "bad" : "" },
        h("th", { scope: "row" }, promise.line), h("td", {}, promise.figure, promise.kept === true && h("span", { class: "kept", title: t("health.kept") }, " ✓"), promise.kept === false && chip(t("health.broken"), "bad")))))),
    data.promises.some((promise) => promise.kept === false) && h("p", { class: "meta" }, t("health.broken_note")),
    h("h2", {}, t("health.refused")),
    data.refused.length
      ? h("table", { class: "figures" }, h("tbody", {}, data.refused.map(([what, rule, n]) => h("tr", {}, h("th", { scope: "row" }, t(`health.${what}`, { rule })), h("td", {}, count(n))))))
      : h("p", { class: "meta" }, t("health.nothing_refused")),
    h("h2", {}, t("health.backups")),
    data.backups.length
      ? h("table", { class: "figures" }, h("tbody", {}, data.backups.map((copy) => h("tr", {}, h("th", { scope: "row" }, copy.name), h("td", {}, `${ago(copy.at)}, ${count(Math.round(copy.size / 1000))} kB`)))))
      : h("p", { class: "meta" }, sentence(t("health.no_backups"))),
  ));
  function dismiss(check, data) {
    localStorage.setItem(DISMISSED, JSON.stringify([...dismissed(), check.line]));
    draw({ ...data, dismissed: check.line });
  }
  async function checkAll(event) {
    const from = event.target;
    from.disabled = true;
    from.textContent = t("health.checking");
    everything = true;
    await refresh();
    from.disabled = false;
  }
  const refresh = reading(panel, async () => ({ asked: everything, ...await get("health", { all: everything ? 1 : "" }) }), draw);
  let seconds = 0;
  const again = () => { if (!everything) refresh(); };
  return { changed: again, tick() { seconds += 1; if (seconds % 10 === 0) again(); } };
}
