// Chat of past streams: files are dropped, what learning from them takes is asked, and how far it is is shown.

import { h, redraw, button, changedOnly } from "../dom.js";
import { upload } from "../api.js";
import { t } from "../words.js";

export function pastChatStep(frame) {
  const choose = h("input", { type: "file", multiple: true, class: "out", onchange: () => take([...choose.files]) });
  const field = h("label", { class: "drop" }, choose, t("setup.past_chat.drop"));
  const gauge = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("setup.past_chat.title") });
  const buttons = h("div", { class: "row" });
  const step = frame(7, "past_chat", field, gauge, buttons);
  let offer = "";
  let looked = false;
  let busy = false; // files are on their way, or looked at

  for (const name of ["dragover", "dragleave", "drop"]) {
    field.addEventListener(name, (event) => {
      event.preventDefault();
      field.classList.toggle("over", name === "dragover");
      if (name === "drop") take([...event.dataTransfer.files]);
    });
  }

  async function take(files) {
    if (busy || !files.length) return;
    busy = true;
    gauge.hidden = false;
    let taken = 0;
    try {
      for (const file of files) {
        step.tell(`${file.name}: ${t("moment")}`);
        await upload("past_chat", file);
        taken += 1;
        gauge.value = taken / files.length;
      }
      await look();
    } catch (problem) {
      step.tell(problem.message, "bad");
    }
    choose.value = "";
    busy = false;
  }

  // What it takes is said beside the button that begins it: that is the one question.
  async function look() {
    looked = true;
    const answer = await step.run("past", { do: "look" }, null);
    if (answer) offer = answer.line;
  }

  const drawButtons = changedOnly(({ running, files, begun }) => redraw(buttons,
    files > 0 && h("span", { class: "meta" }, t("setup.past_chat.waiting", { n: files })),
    running && button(t("setup.past_chat.stop"), (event) => step.run("past", { do: "stop" }, event.target), { class: "small", data: { key: "stop" } }),
    !running && files > 0 && button(t(begun ? "setup.past_chat.go_on" : "setup.past_chat.learn"), () => step.run("past", { do: "learn" }, null), { class: "primary", data: { key: "learn" } }),
    !running && files > 0 && button(t("setup.past_chat.discard"), (event) => step.run("past", { do: "drop" }, event.target), { class: "small", data: { key: "discard" } })));

  function draw(data) {
    if (!data) return;
    const begun = data.share > 0;
    step.done(false, data.running ? `${Math.round(100 * data.share)} %` : t("setup.login.optional"));
    drawButtons({ running: data.running, files: data.files.length, begun });
    field.hidden = data.running;
    if (busy) return;
    gauge.hidden = !data.running && !(begun && data.files.length);
    gauge.value = data.share;
    if (data.line) step.stands(data.line);
    else if (data.files.length && offer) step.stands(offer);
    else if (data.files.length && !looked) look();
  }
  return { node: step.node, draw };
}
