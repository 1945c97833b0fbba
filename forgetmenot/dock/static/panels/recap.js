// The recap of a stream that is over: to read, to copy, and to post where the streamer wants it.

import { h, put, button } from "../dom.js";
import { change, copying, saveText, sheet } from "../ask.js";
import { canvasOf } from "../picture_file.js";
import { ago, t } from "../words.js";
import { evening } from "./evening.js";

export async function openRecap(stream) {
  const body = h("div", { class: "stack" });
  if (await draw(body, stream)) sheet(t("recap.title"), body);
}

// The picture in base64, or nothing where there is none; the bot takes 64 kB at a time.
function pictured(node) {
  const figure = node.querySelector("figure");
  const sizes = figure ? [2, 1].map((scale) => canvasOf(figure, scale).toDataURL("image/png").split(",")[1]) : [];
  return sizes.find((text) => text.length < 60_000) ?? "";
}

async function draw(body, stream) {
  const recap = await change("recap", { stream });
  if (!recap) return false;
  const picture = evening(stream);
  const text = h("textarea", { class: "recap", readonly: true, rows: 14, "aria-label": t("recap.title") });
  text.value = recap.markdown;
  const post = recap.webhook && button(t(recap.posted_at ? "recap.again" : "recap.post"), (event) => done("post_recap", { stream, again: Boolean(recap.posted_at), picture: pictured(picture.node) }, event.target));
  const address = h("input", { type: "password", autocomplete: "off", maxlength: 300, "aria-label": t("recap.webhook"), placeholder: "discord.com/api/webhooks/…" });
  const save = button(t("save"), (event) => done("webhook", { address: address.value }, event.target), { class: "small" });

  async function done(name, given, from) {
    if (await change(name, given, from)) await draw(body, stream);
  }

  const chapters = (form) => (event) => saveText(event.currentTarget, "", `chapters/${stream}`, { form });

  put(body, picture.node, text, h("div", { class: "row" }, copying(text, t("copy")), post),
    h("div", { class: "row" }, h("span", { class: "meta" }, t("recap.chapters")), Object.entries({ youtube: "YouTube", csv: "CSV", edl: "EDL" }).map(([form, name]) => button(name, chapters(form), { class: "ghost small", data: { key: form } }))),
    recap.recap_file && h("p", { class: "meta" }, t("recap.file", { file: recap.recap_file })),
    (recap.webhook || recap.posted_at) && h("p", { class: "meta" }, recap.posted_at ? t("recap.posted", { ago: ago(recap.posted_at) }) : t("recap.not_posted")),
    h("details", {}, h("summary", { class: "meta" }, t("recap.webhook"), recap.webhook && " ✓"),
      h("div", { class: "stack" }, h("div", { class: "row line-form" }, address, save), h("p", { class: "meta" }, t("recap.webhook_note")))));
  return true;
}
