// Simple Spread: discs that should cover all landmarks without touching each other.

TASKS.spread = {
  title: "Simple Spread",
  stepsPerSecond: 5,
  agentRadius: 0.15,
  landmarkRadius: 0.05,
  neighbours: 3,
  trail: 6,

  // Half the side of the square where everything starts; scaled worlds say theirs.
  halfSide: (replay) => (replay.world.half_side ?? 1000) / 1000,

  // The arena, or as much more of it as anybody visits.
  box(replays) {
    const arena = Math.max(...replays.map(this.halfSide));
    const visited = replays.flatMap((replay) => replay.world.positions.flatMap((places, moment) =>
      places.filter((_, agent) => isPresent(replay, moment, agent))));
    const [[left, right], [top, bottom]] = [0, 1].map((axis) => {
      const values = visited.map((place) => place[axis] / 1000);
      const lowest = values.reduce((one, other) => Math.min(one, other), -arena);
      const highest = values.reduce((one, other) => Math.max(one, other), arena);
      return [lowest - 0.2, highest + 0.2];
    });
    return { left, top, width: right - left, height: bottom - top, upward: true };
  },

  // Of one agent: unlike agents have sizes of their own.
  radius(replay, agent) {
    const own = replay.world.sizes?.[agent];
    return own === undefined ? this.agentRadius : own / 1000;
  },

  places(replay, time) {
    return placesAt(replay, time).map(([x, y]) => [x / 1000, y / 1000]);
  },

  draw(pen, replay, time, { highlighted, observers }) {
    const places = this.places(replay, time);
    const team = teamAt(replay, time);
    const taken = team.map((agent) => places[agent]);
    const radii = team.map((agent) => this.radius(replay, agent));
    const landmarks = replay.world.landmarks.map(([x, y]) => [x / 1000, y / 1000]);
    this.drawArena(pen, this.halfSide(replay));
    this.drawTrails(pen, replay, time);
    observers.forEach((agent) => this.drawObserved(pen, places[agent], taken, landmarks));
    for (const agent of team) {
      const look = { highlighted: highlighted.includes(agent), alpha: 0.85 };
      drawAgent(pen, ...places[agent], this.radius(replay, agent), contextOf(replay, time, agent), look);
    }
    this.drawContacts(pen, taken, radii);
    landmarks.forEach((landmark) => {
      const covered = taken.some((place, index) => distance(place, landmark) < radii[index]);
      this.drawLandmark(pen, ...landmark, covered);
    });
  },

  drawArena(pen, half) {
    const frame = { fill: palette.page, stroke: palette.grid, line: 0.012, radius: 0.05 };
    pen.box(-half, -half, 2 * half, 2 * half, frame);
    for (let tick = 0.5 - Math.ceil(2 * half) / 2; tick < half; tick += 0.5) {
      pen.path([[tick, -half], [tick, half]], { stroke: palette.grid, line: 0.004 });
      pen.path([[-half, tick], [half, tick]], { stroke: palette.grid, line: 0.004 });
    }
  },

  drawTrails(pen, replay, time) {
    for (let back = this.trail; back > 0; back -= 1) {
      const [start, end] = [time - back, time - back + 1].map((past) => Math.max(0, past));
      const [from, to] = [this.places(replay, start), this.places(replay, end)];
      const alpha = 0.5 * (1 - back / (this.trail + 1));
      for (const agent of teamAt(replay, time)) {
        if (![start, end].every((past) => isPresent(replay, past, agent))) continue;
        pen.path([from[agent], to[agent]], { stroke: palette.muted, line: 0.016, alpha });
      }
    }
  },

  // Lines to the landmarks and teammates that are in the agent's observation.
  drawObserved(pen, place, taken, landmarks) {
    const nearer = (one, other) => distance(place, one) - distance(place, other);
    const nearest = (targets) => [...targets].sort(nearer).slice(0, this.neighbours);
    for (const landmark of nearest(landmarks)) {
      pen.path([place, landmark], { stroke: palette.good, line: 0.012, alpha: 0.7 });
    }
    for (const teammate of nearest(taken.filter((other) => other !== place))) {
      const look = { stroke: palette.sight, line: 0.012, alpha: 0.8, dash: [0.03, 0.03] };
      pen.path([place, teammate], look);
    }
  },

  drawContacts(pen, places, radii) {
    places.forEach((one, index) => {
      places.slice(0, index).forEach((other, before) => {
        if (distance(one, other) < radii[index] + radii[before]) {
          this.drawContact(pen, (one[0] + other[0]) / 2, (one[1] + other[1]) / 2);
        }
      });
    });
  },

  drawContact(pen, x, y) {
    pen.disc(x, y, 0.036, { fill: palette.paper, stroke: palette.opposed, line: 0.018 });
  },

  // Full and ringed when covered, hollow when not.
  drawLandmark(pen, x, y, covered) {
    const radius = this.landmarkRadius;
    if (covered) {
      pen.disc(x, y, 1.5 * radius, { fill: palette.paper, stroke: palette.good, line: 0.014 });
      pen.disc(x, y, radius, { fill: palette.good });
    } else {
      pen.disc(x, y, radius, { fill: palette.paper, stroke: palette.ink, line: 0.016 });
      pen.disc(x, y, 0.4 * radius, { fill: palette.muted });
    }
  },

  legendBox: { left: -0.12, top: -0.12, width: 0.24, height: 0.24 },
  legend: [
    ["landmark", (pen) => TASKS.spread.drawLandmark(pen, 0, 0, false)],
    ["covered landmark", (pen) => TASKS.spread.drawLandmark(pen, 0, 0, true)],
    ["two agents touch", (pen) => TASKS.spread.drawContact(pen, 0, 0)],
  ],
  observed: "Observations: lines lead to the three nearest landmarks (solid) and teammates (dashed).",
};
