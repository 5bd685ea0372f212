// Draws on a canvas in the units of a world: sharp on every screen, y down, or up where the world says so.

class Pen {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  // Clears the canvas and fits the box {left, top, width, height, upward} into it.
  begin(box) {
    const { canvas, context } = this;
    const pixels = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth * pixels, canvas.clientHeight * pixels].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.clearRect(0, 0, width, height);
    this.scale = Math.min(width / box.width, height / box.height);
    this.sign = box.upward ? -1 : 1;
    this.left = (width - box.width * this.scale) / 2 - box.left * this.scale;
    const edge = box.upward ? -(box.top + box.height) : box.top;
    this.top = (height - box.height * this.scale) / 2 - edge * this.scale;
  }

  at(x, y) {
    return [this.left + x * this.scale, this.top + this.sign * y * this.scale];
  }

  // Where a point of the page lies in the world.
  under(pageX, pageY) {
    const frame = this.canvas.getBoundingClientRect();
    const pixels = this.canvas.width / frame.width;
    const [x, y] = [(pageX - frame.left) * pixels, (pageY - frame.top) * pixels];
    return [(x - this.left) / this.scale, (this.sign * (y - this.top)) / this.scale];
  }

  // A circle, or the share (0 to 1) of it that is passed clockwise from an angle.
  disc(x, y, radius, { start = 0, share = 1, ...look }) {
    if (share <= 0) return;
    this.context.beginPath();
    this.context.arc(...this.at(x, y), radius * this.scale, start, start + share * 2 * Math.PI);
    this.#paint(look);
  }

  box(x, y, width, height, { radius = 0, ...look }) {
    const [left, top] = this.at(x, this.sign > 0 ? y : y + height);
    this.context.beginPath();
    this.context.roundRect(left, top, width * this.scale, height * this.scale, radius * this.scale);
    this.#paint(look);
  }

  path(points, look) {
    this.context.beginPath();
    points.forEach(([x, y], index) => this.context[index ? "lineTo" : "moveTo"](...this.at(x, y)));
    if (look.fill) this.context.closePath();
    this.#paint(look);
  }

  text(x, y, words, { colour, height, weight = 600, align = "center" }) {
    this.context.font = `${weight} ${height * this.scale}px system-ui, sans-serif`;
    this.context.textAlign = align;
    this.context.textBaseline = "middle";
    this.context.fillStyle = colour;
    this.context.fillText(words, ...this.at(x, y));
  }

  #paint({ fill, stroke, line = 0, alpha = 1, dash = [] }) {
    this.context.globalAlpha = alpha;
    this.context.setLineDash(dash.map((length) => length * this.scale));
    if (fill) {
      this.context.fillStyle = fill;
      this.context.fill();
    }
    if (stroke && line) {
      this.context.strokeStyle = stroke;
      this.context.lineWidth = Math.max(1, line * this.scale);
      this.context.lineJoin = this.context.lineCap = "round";
      this.context.stroke();
    }
    this.context.globalAlpha = 1;
  }
}
