import { h, redraw, chip, changedOnly, sentence } from "../dom.js";
import { get } from "../api.js";
import { failed } from "../ask.js";
import { ago, count } from "../words.js";

const STATES = { ok: ["good", "OK"], warn: ["", "off"], bad: ["bad", "needs attention"] };

export function open(room) {
  const draw = changedOnly((told) => redraw(
    room,
    h("h2", {}, "Status"),
    h("div", { class: "stack" }, told.checks.map((part) => h(
      "div", { class: `item health ${STATES[part.state][0]}` },
      h("p", {}, h("i", { class: `dot ${STATES[part.state][0]}` }), h("b", {}, part.name), " ", sentence(part.line)),
      part.state !== "ok" && part.fix && h("p", { class: "meta fix" }, sentence(part.fix)),
      h("span", { class: "out" }, STATES[part.state][1])))),
    h("h2", {}, "Promises"),
    h("table", { class: "figures" }, h("thead", { class: "out" }, h("tr", {}, h("th", {}, "Promise"), h("th", {}, "Figure"))),
      h("tbody", {}, told.promises.map((one) => h("tr", { class: one.kept === false ? "bad" : "" },
        h("th", { scope: "row" }, one.line), h("td", {}, one.figure, one.kept === true && h("span", { class: "kept", title: "kept" }, " ✓"), one.kept === false && chip("broken", "bad")))))),
    told.promises.some((one) => one.kept === false) && h("p", { class: "meta" }, "A broken promise is a bug, not your fault. Please report it with the log."),
    h("h2", {}, "Backups"),
    told.backups.length
      ? h("table", { class: "figures" }, h("tbody", {}, told.backups.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name), h("td", {}, `${ago(one.at)}, ${count(Math.round(one.size / 1000))} kB`)))))
      : h("p", { class: "meta" }, "There are no backups yet. ", h("code", {}, "forgetmenot memory backup"), " makes one, without chat."),
  ));
  async function refresh() {
    try {
      draw(await get("health"));
    } catch (problem) {
      failed(room, problem, refresh);
    }
  }
  refresh();
  let seconds = 0;
  return { changed: refresh, tick() { seconds += 1; if (seconds % 10 === 0) refresh(); } };
}
