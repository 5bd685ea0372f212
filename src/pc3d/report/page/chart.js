// The return so far of each policy over the episode, with a cursor at the step shown.

class Chart {
  constructor(canvas, onScrub) {
    this.canvas = canvas;
    this.pen = new Pen(canvas);
    this.steps = 1;
    onDrag(canvas, (across) => onScrub(this.#timeAt(across)));
  }

  // A line is {returns, colour, dash}: the return so far after 0, 1, 2, … steps.
  show(lines, steps) {
    const values = lines.flatMap(({ returns }) => returns);
    this.lines = lines;
    this.steps = Math.max(1, steps);
    this.low = values.reduce((one, other) => Math.min(one, other), 0);
    this.high = values.reduce((one, other) => Math.max(one, other), 0);
    if (this.low === this.high) this.high = this.low + 1;
  }

  draw(time) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.pen.begin({ left: 0, top: 0, width, height });
    this.#drawAxis(width);
    for (const { returns, colour, dash } of this.lines) {
      const points = returns.map((value, step) => [this.#x(step), this.#y(value)]);
      this.pen.path(points, { stroke: colour, line: 2, dash });
    }
    this.#drawCursor(time, height);
  }

  #drawAxis(width) {
    const look = { colour: palette.muted, height: 11, weight: 400, align: "start" };
    const title = this.low < 0 ? { ...look, align: "end" } : look; // it stands where the lines are not
    this.pen.text(this.#x(this.low < 0 ? this.steps : 0), 17, "return so far", title);
    for (const value of [this.low, this.high]) {
      const y = Math.round(this.#y(value)) + 0.5;
      this.pen.path([[this.#x(0), y], [width - 8, y]], { stroke: palette.grid, line: 1 });
      this.pen.text(0, y, value === 0 ? "0" : numberText(value), look);
    }
  }

  #drawCursor(time, height) {
    const x = this.#x(time);
    this.pen.path([[x, 2], [x, height - 2]], { stroke: palette.ink, line: 1 });
    for (const { returns, colour } of this.lines) {
      const { before, after, share } = between(returns, time);
      this.pen.disc(x, this.#y(before + share * (after - before)), 4.5, { fill: colour });
    }
  }

  #x(step) {
    return 44 + (step / this.steps) * (this.canvas.clientWidth - 52);
  }

  #y(value) {
    return 8 + ((this.high - value) / (this.high - this.low)) * (this.canvas.clientHeight - 16);
  }

  #timeAt(across) {
    return ((across - this.#x(0)) / (this.#x(this.steps) - this.#x(0))) * this.steps;
  }
}

function returnsSoFar(replay) {
  const scale = TASKS[replay.task].returnScale?.(replay) ?? 1;
  let total = 0;
  return [0, ...replay.reward.map((reward) => (total += reward) * scale)];
}
