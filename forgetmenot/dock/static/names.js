// Names as chat shows them: in the colour that a viewer chose on Twitch, else in one by their id, and readable.

import { h } from "./dom.js";

const DEFAULTS = ["#ff0000", "#0000ff", "#008000", "#b22222", "#ff7f50", "#9acd32", "#ff4500", "#2e8b57", "#daa520", "#d2691e", "#5f9ea0", "#1e90ff", "#ff69b4", "#8a2be2", "#00ff7f"]; // Twitch's own
const GROUNDS = { dark: { ground: [35, 39, 51], toward: 255 }, light: { ground: [236, 239, 245], toward: 0 } };
const READABLE = 4.5; // contrast, as WCAG 2 asks for
const numbers = (hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// As much white or black is mixed in as the ground asks for.
function readable(colour, { ground, toward }) {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = colour.map((part) => Math.round(part + (toward - part) * share));
    if (contrast(mixed, ground) >= READABLE) return `rgb(${mixed.join(" ")})`;
  }
  return toward ? "#fff" : "#000";
}

function coloursOf(person, chosen) {
  const sum = [...String(person)].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  const hex = /^#[0-9a-f]{6}$/i.test(chosen || "") ? chosen : DEFAULTS[sum % DEFAULTS.length];
  return Object.fromEntries(Object.entries(GROUNDS).map(([name, ground]) => [name, readable(numbers(hex), ground)]));
}

// A name that opens what is known of its viewer.
export function nameLink({ person, who, color }) {
  const node = h(person ? "a" : "b", { class: "name", href: person && `#memory/person/${encodeURIComponent(person)}` }, who);
  for (const [ground, colour] of Object.entries(coloursOf(person || who, color))) node.style.setProperty(`--on-${ground}`, colour);
  return node;
}
