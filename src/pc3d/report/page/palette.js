// Colours, as the style sheet has them for a light or a dark page.

const COLOUR_NAMES = [
  "page", "paper", "ink", "muted", "grid", "shelf", "shelf-edge", "neutral", "first", "second",
  "aligned", "opposed", "good", "warm", "warm-edge", "sight",
];

let palette = readPalette();

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOUR_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function onThemeChange(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    palette = readPalette();
    redraw();
  });
}

function channels(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

function mixed(from, to, share) {
  const [start, end] = [channels(from), channels(to)];
  const blend = start.map((value, channel) => Math.round(value + share * (end[channel] - value)));
  return `#${blend.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

// From opposed (-100) over neutral to aligned (100); neutral for agents without a context.
function alignmentColour(alignment) {
  if (alignment === null) return palette.neutral;
  const end = alignment < 0 ? palette.opposed : palette.aligned;
  return mixed(palette.neutral, end, Math.min(1, Math.abs(alignment) / 100));
}

// Black or white, whichever is read more easily on the colour.
function inkOn(colour) {
  const [red, green, blue] = channels(colour).map((value) => (value / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.3 ? "#16191f" : "#ffffff";
}
