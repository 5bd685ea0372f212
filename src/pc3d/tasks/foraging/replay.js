// Level-based foraging: apples on a grid that only several agents together can lift.

TASKS.lbf = {
  title: "Level-based foraging",
  stepsPerSecond: 4,
  agentRadius: 0.4,

  box(replays) {
    const side = replays[0].world.size;
    return { left: -0.1, top: -0.1, width: side + 0.2, height: side + 0.2 };
  },

  places(replay, time) {
    return this.bodies(replay, time).map(({ x, y }) => [x, y]);
  },

  // Agents that share a cell are smaller and stand around its middle, so that each one shows.
  bodies(replay, time) {
    const [cells, team] = [placesAt(replay, time), teamAt(replay, time)];
    return cells.map(([row, column], agent) => {
      const sharing = team.filter((other) => distance(cells[other], [row, column]) < 0.3);
      const crowded = sharing.length > 1;
      const aside = crowded ? 0.22 : 0;
      const angle = (2 * Math.PI * sharing.indexOf(agent)) / sharing.length;
      return {
        x: column + 0.5 + aside * Math.cos(angle),
        y: row + 0.5 + aside * Math.sin(angle),
        radius: this.agentRadius * (crowded ? 0.65 : 1),
      };
    });
  },

  // The reported return is the team's reward divided by its size.
  returnScale: (replay) => 1 / replay.team_size,

  draw(pen, replay, time, { highlighted, observers }) {
    const { size, sight, foods, food_left: left, levels, positions } = replay.world;
    this.drawField(pen, size);
    const now = Math.min(Math.floor(time), positions.length - 1);
    observers.forEach((agent) => this.drawSight(pen, positions[now][agent], sight, size));
    foods.forEach(([row, column, level], food) => {
      const marks = left[now]; // bits of a number, or letters where there are too many for one
      const there = typeof marks === "string" ? marks[food] === "1" : (marks >> food) & 1;
      this.drawFood(pen, column + 0.5, row + 0.5, level, !there);
    });
    const bodies = this.bodies(replay, time);
    for (const agent of teamAt(replay, time)) {
      const { x, y, radius } = bodies[agent];
      const look = { highlighted: highlighted.includes(agent) };
      const ink = drawAgent(pen, x, y, radius, contextOf(replay, time, agent), look);
      pen.text(x, y + 0.02, String(levels[agent]), { colour: ink, height: radius });
    }
  },

  drawField(pen, size) {
    pen.box(0, 0, size, size, { fill: palette.page, stroke: palette.grid, line: 0.05, radius: 0.15 });
    for (let tick = 1; tick < size; tick += 1) {
      pen.path([[tick, 0], [tick, size]], { stroke: palette.grid, line: 0.02 });
      pen.path([[0, tick], [size, tick]], { stroke: palette.grid, line: 0.02 });
    }
  },

  // Apples are seen by distance. Teammates are seen in a window of the same width, which the top and left
  // border push back into the field, so that it reaches further there (dashed), as in the original game.
  drawSight(pen, [row, column], sight, size) {
    const window = (from) => [Math.max(0, from - sight), Math.min(size, from + sight + 1)];
    const [[top, bottom], [left, right]] = [window(row), window(column)];
    const shade = { fill: palette.sight, alpha: 0.16, radius: 0.12 };
    pen.box(left, top, right - left, bottom - top, shade);
    const edge = (from) => Math.min(size, Math.max(0, from - sight) + 2 * sight + 1);
    const outline = { stroke: palette.sight, line: 0.05, radius: 0.12, dash: [0.16, 0.12] };
    pen.box(left, top, edge(column) - left, edge(row) - top, outline);
  },

  // Two lobes, a stalk and a leaf, with the level on it; a faint circle where it was.
  drawFood(pen, x, y, level, eaten) {
    if (eaten) {
      pen.disc(x, y, 0.2, { stroke: palette.neutral, line: 0.05, alpha: 0.7 });
      return;
    }
    for (const side of [-0.1, 0.1]) pen.disc(x + side, y + 0.06, 0.31, { fill: "#c14f00" });
    pen.path([[x, y - 0.18], [x + 0.06, y - 0.4]], { stroke: palette.ink, line: 0.05 });
    const leaf = [[x + 0.05, y - 0.27], [x + 0.16, y - 0.41], [x + 0.33, y - 0.4], [x + 0.22, y - 0.27]];
    pen.path(leaf, { fill: palette.good });
    pen.text(x, y + 0.08, String(level), { colour: "#ffffff", height: 0.42 });
  },

  legendBox: { left: -0.5, top: -0.5, width: 1, height: 1 },
  legend: [
    ["food and its level", (pen) => TASKS.lbf.drawFood(pen, 0, 0, 3, false)],
    ["food that was collected", (pen) => TASKS.lbf.drawFood(pen, 0, 0, 3, true)],
    ["agent and its level", (pen) => {
      const ink = drawAgent(pen, 0, 0, 0.42, { gate: null, alignment: null });
      pen.text(0, 0.02, "1", { colour: ink, height: 0.45 });
    }],
  ],
  observed: "Observations: food in the shaded cells, teammates in the dashed window.",
};
