// Which replays the page holds, and each one unpacked when it is first looked at.

const SPLIT_TITLES = {
  train: "trained with",
  validation: "never trained with, used to select settings",
  test: "never trained with",
  other: "never trained with",
};

const unpacked = new Map();

// One entry per replay: its number, and what it is a replay of.
function readIndex() {
  const entries = JSON.parse(document.getElementById("replay-index").textContent);
  return entries.filter(({ task }) => Object.hasOwn(TASKS, task));
}

// The task and size to begin with: {} where the page says nothing about it.
function readOpening() {
  return JSON.parse(document.getElementById("replay-opening").textContent);
}

function unpack(number) {
  if (!unpacked.has(number)) unpacked.set(number, readReplay(number));
  return unpacked.get(number);
}

async function readReplay(number) {
  const packed = atob(document.getElementById(`replay-${number}`).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).json();
}

// The different values of a field, in the order they come in (numbers by size).
function valuesOf(entries, field) {
  const values = [...new Set(entries.map((entry) => entry[field]))];
  return typeof values[0] === "number" ? values.sort((one, other) => one - other) : values;
}
