// The return so far of each policy over the episode, with a cursor at the step shown.

class Chart {
  constructor(canvas, onScrub) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.lines = [];
    this.steps = 1;
    const scrub = (event) => onScrub(this.#timeAt(event.clientX));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      scrub(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) scrub(event);
    });
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
    const { canvas, context } = this;
    const pixels = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * pixels);
    canvas.height = Math.round(height * pixels);
    context.scale(pixels, pixels);
    this.#drawAxis(width);
    for (const line of this.lines) this.#drawLine(line);
    this.#drawCursor(time, height);
  }

  #drawAxis(width) {
    const { context } = this;
    context.fillStyle = palette.muted;
    context.font = "11px system-ui, sans-serif";
    const falling = this.low < 0; // the title stands where the lines are not
    context.textAlign = falling ? "end" : "start";
    context.fillText("return so far", this.#x(falling ? this.steps : 0), 21);
    context.textAlign = "start";
    for (const value of [this.low, this.high]) {
      const y = Math.round(this.#y(value)) + 0.5;
      this.#stroke([[this.#x(0), y], [width - 8, y]], palette.grid, 1);
      context.fillText(value === 0 ? "0" : numberText(value), 0, y + 4);
    }
  }

  #drawLine({ returns, colour, dash }) {
    this.context.setLineDash(dash);
    this.#stroke(returns.map((value, step) => [this.#x(step), this.#y(value)]), colour, 2);
    this.context.setLineDash([]);
  }

  #drawCursor(time, height) {
    const x = this.#x(time);
    this.#stroke([[x, 2], [x, height - 2]], palette.ink, 1);
    for (const { returns, colour } of this.lines) {
      const { before, after, share } = between(returns, time);
      this.context.beginPath();
      this.context.arc(x, this.#y(before + share * (after - before)), 4.5, 0, 2 * Math.PI);
      this.context.fillStyle = colour;
      this.context.fill();
    }
  }

  #stroke(points, colour, width) {
    this.context.beginPath();
    points.forEach(([x, y], index) => this.context[index ? "lineTo" : "moveTo"](x, y));
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.stroke();
  }

  #x(step) {
    return 44 + (step / this.steps) * (this.canvas.clientWidth - 52);
  }

  #y(value) {
    return 8 + ((this.high - value) / (this.high - this.low)) * (this.canvas.clientHeight - 16);
  }

  #timeAt(pageX) {
    const across = pageX - this.canvas.getBoundingClientRect().left;
    return ((across - this.#x(0)) / (this.#x(this.steps) - this.#x(0))) * this.steps;
  }
}

function returnsSoFar(replay) {
  const scale = TASKS[replay.task].returnScale?.(replay) ?? 1;
  let total = 0;
  return [0, ...replay.reward.map((reward) => (total += reward) * scale)];
}
