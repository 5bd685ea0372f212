// Who was there when: under a stage, a thin row for each slot over the episode, and a line at the moment shown.

class PresenceBars {
  static room = 96; // pixels for all rows together
  static tallest = 10;
  static shortest = 2;
  static mark = 3; // pixels: of a join, and of the line

  constructor(onScrub) {
    this.canvas = make("canvas", { className: "presence", role: "img" });
    this.pen = new Pen(this.canvas);
    this.show(null, 0);
    // A column of the picture is a moment, and there is one more of them than there are steps.
    onDrag(this.canvas, (across) => onScrub((across / this.canvas.clientWidth) * (this.steps + 1) - 0.5));
  }

  // Nothing where the same agents are there all the time.
  show(replay, steps) {
    this.present = replay?.present ?? null;
    this.steps = steps;
    this.canvas.hidden = !this.present;
    if (!this.present) return;
    const slots = this.present[0].length;
    const { room, tallest, shortest } = PresenceBars;
    this.row = Math.max(shortest, Math.min(tallest, Math.floor(room / slots)));
    this.canvas.style.setProperty("--height", `${this.row * slots}px`);
  }

  draw(time) {
    if (!this.present) return;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.pen.begin({ left: 0, top: 0, width, height });
    const moment = width / (this.steps + 1);
    this.present.forEach((there, at) => there.forEach((taken, slot) => {
      const [x, y] = [at * moment, slot * this.row];
      this.pen.box(x, y, moment, this.row - 1, { fill: taken ? palette.first : palette.grid });
      const joins = taken && at > 0 && !this.present[at - 1][slot];
      if (joins) this.pen.box(x, y, PresenceBars.mark, this.row - 1, { fill: palette.warm });
    }));
    const x = (time + 0.5) * moment;
    this.pen.path([[x, 0], [x, height]], { stroke: palette.ink, line: PresenceBars.mark });
  }

  describe(step, team) {
    this.canvas.ariaLabel = `Who is there when: ${team.length} of ${this.present?.[0].length} slots at step ${step}`;
  }
}
