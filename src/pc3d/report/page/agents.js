// What agents of every task have in common: a place between two steps, a gate and a context alignment.

const TASKS = {}; // how each task is drawn, by its name: its own replay.js adds it

function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}

// A replay says who is there only where agents come or go within its episode.
function isPresent(replay, time, agent) {
  return !replay.present || Boolean(between(replay.present, time).before[agent]);
}

// The agents that are there, by number.
function teamAt(replay, time) {
  return [...replay.world.positions[0].keys()].filter((agent) => isPresent(replay, time, agent));
}

// Between the state before `time` and the one after it; after the last one, the last.
function between(states, time) {
  const now = Math.min(time, states.length - 1);
  const before = Math.floor(now);
  return { before: states[before], after: states[Math.ceil(now)], share: now - before };
}

// Of all agents; one that is about to leave stays where it was last seen.
function placesAt(replay, time) {
  const { before, after, share } = between(replay.world.positions, time);
  return before.map((from, agent) => {
    const to = isPresent(replay, time + 1, agent) ? after[agent] : from;
    return from.map((value, axis) => value + share * (to[axis] - value));
  });
}

// The step that is played at this time; after the last one, the last.
function stepAt(replay, time) {
  return Math.max(0, Math.min(Math.floor(time), replay.reward.length - 1));
}

// Gate (0 to 100) and alignment (-100 to 100) of an agent; null for methods without a context.
function contextOf(replay, time, agent) {
  const step = stepAt(replay, time);
  return {
    gate: replay.gate?.[step]?.[agent] ?? null,
    alignment: replay.alignment?.[step]?.[agent] ?? null,
  };
}

// The disc is coloured by alignment; the ring around it is filled as far as the gate is open.
function drawAgent(pen, x, y, radius, { gate, alignment }, { highlighted, alpha = 1 } = {}) {
  const colour = alignmentColour(alignment);
  const inner = gate === null ? radius : radius * 0.8;
  if (highlighted) pen.disc(x, y, radius * 1.22, { stroke: palette.ink, line: radius * 0.1 });
  pen.disc(x, y, radius, { fill: palette.paper });
  pen.disc(x, y, inner, { fill: colour, stroke: palette.ink, line: radius * 0.05, alpha });
  if (gate !== null) {
    pen.disc(x, y, radius * 0.92, { stroke: palette.grid, line: radius * 0.16 });
    const fromTheTop = { start: -Math.PI / 2, share: gate / 100 };
    pen.disc(x, y, radius * 0.92, { ...fromTheTop, stroke: palette.ink, line: radius * 0.16 });
  }
  return inkOn(colour);
}

// A true minus, and as many decimals as the size of the number asks for.
function numberText(value, decimals = Math.abs(value) >= 10 ? 1 : 2) {
  return value.toFixed(decimals).replace("-", "−");
}

function contextText({ gate, alignment }) {
  const parts = [];
  if (gate !== null) parts.push(`gate ${gate} %`);
  if (alignment !== null) parts.push(`alignment ${numberText(alignment / 100, 2)}`);
  return parts.join(", ");
}
