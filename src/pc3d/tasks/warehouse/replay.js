// RWARE: robots bring requested shelves to the goals and put them back.

TASKS.rware = {
  title: "Multi-robot warehouse",
  stepsPerSecond: 8,
  agentRadius: 0.42,
  headings: [0, Math.PI, -Math.PI / 2, Math.PI / 2], // up, down, left, right, as clockwise turns from up

  box(replays) {
    const { columns, rows } = replays[0].world;
    return { left: -0.15, top: -0.15, width: columns + 0.3, height: rows + 0.3 };
  },

  places(replay, time) {
    return placesAt(replay, time).map(([x, y]) => [x + 0.5, y + 0.5]);
  },

  draw(pen, replay, time, { highlighted, observers }) {
    const { world } = replay;
    const now = Math.min(Math.floor(time), world.positions.length - 1);
    const requested = new Set(world.requests[now]);
    const carried = world.carried[now];
    this.drawFloor(pen, world);
    observers.forEach((agent) => this.drawSight(pen, world, world.positions[now][agent]));
    const shelves = this.standingShelves(world, now);
    shelves.forEach(([x, y], shelf) => this.drawShelf(pen, x, y, requested.has(shelf)));
    const places = this.places(replay, time);
    for (const agent of teamAt(replay, time)) {
      const [x, y] = places[agent];
      const loaded = carried[agent] >= 0;
      if (loaded) this.drawShelf(pen, x - 0.5, y - 0.5, requested.has(carried[agent]));
      const look = { highlighted: highlighted.includes(agent) };
      const heading = this.headingAt(world, agent, time);
      this.drawRobot(pen, x, y, heading, loaded, contextOf(replay, time, agent), look);
    }
  },

  // Where each shelf stands at a step, by its number: where it was last put down, unless a robot carries it.
  standingShelves(world, now) {
    const standing = new Map(world.shelves.map((place, shelf) => [shelf, place]));
    for (const [step, shelf, x, y] of world.moves) if (step <= now) standing.set(shelf, [x, y]);
    for (const shelf of world.carried[now]) standing.delete(shelf);
    return standing;
  },

  // Turns the short way round.
  headingAt(world, agent, time) {
    const { before, after, share } = between(world.directions, time);
    const from = this.headings[before[agent]];
    const turn = this.headings[after[agent]] - from;
    return from + share * Math.atan2(Math.sin(turn), Math.cos(turn));
  },

  drawFloor(pen, { columns, rows, highway, goals }) {
    pen.box(0, 0, columns, rows, { fill: palette.page, radius: 0.15 });
    for (let cell = 0; cell < columns * rows; cell += 1) {
      if (highway[cell] === "1") continue;
      const [x, y] = [cell % columns, Math.floor(cell / columns)];
      const look = { fill: palette.paper, stroke: palette.grid, line: 0.03, radius: 0.1 };
      pen.box(x + 0.07, y + 0.07, 0.86, 0.86, look);
    }
    for (const [x, y] of goals) this.drawGoal(pen, x, y);
    pen.box(0, 0, columns, rows, { stroke: palette.neutral, line: 0.05, radius: 0.15 });
  },

  drawGoal(pen, x, y) {
    pen.box(x, y, 1, 1, { fill: palette.good, alpha: 0.22, radius: 0.12 });
    pen.box(x, y, 1, 1, { stroke: palette.good, line: 0.07, radius: 0.12 });
    pen.text(x + 0.5, y + 0.53, "G", { colour: palette.good, height: 0.6 });
  },

  // A box with two boards; a requested one shines.
  drawShelf(pen, x, y, requested) {
    const name = requested ? "warm" : "shelf";
    const [fill, edge] = [palette[name], palette[`${name}-edge`]];
    pen.box(x + 0.07, y + 0.07, 0.86, 0.86, { fill, stroke: edge, line: 0.05, radius: 0.1 });
    for (const board of [0.36, 0.64]) {
      pen.path([[x + 0.09, y + board], [x + 0.91, y + board]], { stroke: edge, line: 0.04 });
    }
  },

  drawSight(pen, { columns, rows }, [x, y]) {
    const [left, top] = [Math.max(0, x - 1), Math.max(0, y - 1)];
    const [width, height] = [Math.min(columns, x + 2) - left, Math.min(rows, y + 2) - top];
    pen.box(left, top, width, height, { fill: palette.sight, alpha: 0.22, radius: 0.12 });
    pen.box(left, top, width, height, { stroke: palette.sight, line: 0.06, radius: 0.12 });
  },

  // An arrowhead points ahead; smaller under a shelf, so that both are seen.
  drawRobot(pen, x, y, heading, loaded, context, look) {
    const radius = loaded ? 0.34 : this.agentRadius;
    const ink = drawAgent(pen, x, y, radius, context, look);
    const [sine, cosine] = [Math.sin(heading), Math.cos(heading)];
    const corners = [[0, -0.58], [0.46, 0.4], [0, 0.16], [-0.46, 0.4]].map(([right, down]) => [
      x + radius * (right * cosine - down * sine),
      y + radius * (right * sine + down * cosine),
    ]);
    pen.path(corners, { fill: ink });
  },

  legendBox: { left: -0.05, top: -0.05, width: 1.1, height: 1.1 },
  legend: [
    ["shelf", (pen) => TASKS.rware.drawShelf(pen, 0, 0, false)],
    ["requested shelf", (pen) => TASKS.rware.drawShelf(pen, 0, 0, true)],
    ["robot with a load", (pen) => {
      TASKS.rware.drawShelf(pen, 0, 0, true);
      TASKS.rware.drawRobot(pen, 0.5, 0.5, 0, true, { gate: null, alignment: null }, {});
    }],
    ["goal", (pen) => TASKS.rware.drawGoal(pen, 0, 0)],
  ],
  observed: "Observations: the nine shaded cells around a robot.",
};
