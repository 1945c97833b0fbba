// A chart as a file, with its caption above it: what the stylesheet says of it is written into it.

import { SIDE, box } from "./chart.js";
import { h, s, button } from "./dom.js";
import { saveFile } from "./api.js";

const LOOKS = { fill: "fill", stroke: "stroke", "stroke-width": "strokeWidth", "stroke-dasharray": "strokeDasharray", "fill-opacity": "fillOpacity", "font-size": "fontSize" };
const HEAD = 24; // px
const drawn = (figure) => [...figure.querySelectorAll(".figures path:not(.cursor), .figures text")].map((node) => [node, getComputedStyle(node)]);
const ground = () => getComputedStyle(document.body);
const size = (figure) => ["width", "height"].map((name) => Number(figure.querySelector(".figures").getAttribute(name)));

function svg(figure) {
  const [width, height] = size(figure);
  const pieces = drawn(figure).map(([node, style]) => {
    const same = node.cloneNode(true);
    for (const [name, key] of Object.entries(LOOKS)) same.setAttribute(name, style[key]);
    return same;
  });
  const all = s("svg", { width, height: height + HEAD, "font-family": "sans-serif" }, s("path", { d: box(0, 0, width, height + HEAD), fill: ground().backgroundColor }),
    s("text", { x: SIDE, y: 16, fill: ground().color, "font-size": 12 }, figure.querySelector("figcaption").textContent), s("g", { transform: `translate(0 ${HEAD})` }, pieces));
  return new Blob([new XMLSerializer().serializeToString(all)], { type: "image/svg+xml" });
}

// A canvas. It is drawn path by path, since the page's policy loads no picture that was made here.
export function canvasOf(figure, scale = 2) {
  const [width, height] = size(figure);
  const canvas = h("canvas", { width: width * scale, height: (height + HEAD) * scale });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = ground().backgroundColor;
  pen.fillRect(0, 0, width, height + HEAD);
  Object.assign(pen, { fillStyle: ground().color, font: "12px sans-serif" });
  pen.fillText(figure.querySelector("figcaption").textContent, SIDE, 16, width - 2 * SIDE);
  pen.translate(0, HEAD);
  for (const [node, style] of drawn(figure)) {
    Object.assign(pen, { fillStyle: style.fill, strokeStyle: style.stroke, lineWidth: parseFloat(style.strokeWidth), globalAlpha: Number(style.fillOpacity), font: `${style.fontSize} sans-serif`, textAlign: node.getAttribute("text-anchor") ?? "start" });
    pen.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat));
    const shape = new Path2D(node.getAttribute("d"));
    if (node.tagName === "text") pen.fillText(node.textContent, Number(node.getAttribute("x")), Number(node.getAttribute("y")));
    else if (style.fill !== "none") pen.fill(shape);
    pen.globalAlpha = 1;
    if (style.stroke !== "none") pen.stroke(shape);
  }
  return canvas;
}

export const saving = (figure, name) => [
  button("SVG", () => saveFile(`${name}.svg`, svg(figure)), { class: "ghost small" }),
  button("PNG", () => canvasOf(figure).toBlob((file) => saveFile(`${name}.png`, file)), { class: "ghost small" }),
];
