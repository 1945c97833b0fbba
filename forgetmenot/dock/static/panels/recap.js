// The recap of a stream that is over: to read, to copy, and to post where the streamer wants it.

import { h, put, button } from "../dom.js";
import { say, sheet, step } from "../ask.js";
import { ago, t } from "../words.js";

export async function openRecap(stream) {
  const body = h("div", { class: "stack" });
  if (await draw(body, stream)) sheet(t("recap.title"), body);
}

async function draw(body, stream) {
  const recap = await step("recap", { stream });
  if (!recap?.ok) {
    if (recap) say(recap.line, false);
    return false;
  }
  const text = h("textarea", { class: "recap", readonly: true, rows: 14, "aria-label": t("recap.title") });
  text.value = recap.markdown;
  const copy = button(t("recap.copy"), async () => {
    text.select();
    await navigator.clipboard.writeText(recap.markdown).catch(() => document.execCommand("copy"));
    put(copy, "✓");
  }, { class: "primary" });
  const post = recap.webhook && button(t(recap.posted_at ? "recap.again" : "recap.post"), (event) => done("post_recap", { stream, again: Boolean(recap.posted_at) }, event.target));
  const address = h("input", { type: "password", autocomplete: "off", maxlength: 300, "aria-label": t("recap.webhook"), placeholder: "discord.com/api/webhooks/…" });
  const save = button(t("save"), (event) => done("webhook", { address: address.value }, event.target), { class: "small" });

  async function done(name, given, from) {
    const answer = await step(name, given, from);
    if (!answer) return;
    say(answer.line, answer.ok);
    if (answer.ok) await draw(body, stream);
  }

  put(body, text, h("div", { class: "row" }, copy, post),
    recap.recap_file && h("p", { class: "meta" }, t("recap.file", { file: recap.recap_file })),
    (recap.webhook || recap.posted_at) && h("p", { class: "meta" }, recap.posted_at ? t("recap.posted", { ago: ago(recap.posted_at) }) : t("recap.not_posted")),
    h("details", {}, h("summary", { class: "meta" }, t("recap.webhook"), recap.webhook && " ✓"),
      h("div", { class: "stack" }, h("div", { class: "row line-form" }, address, save), h("p", { class: "meta" }, t("recap.webhook_note")))));
  return true;
}
