// The clock that all stages share: a time in steps that plays, pauses and jumps.

class Player {
  constructor(onChange) {
    this.onChange = onChange;
    this.steps = 0;
    this.time = 0;
    this.speed = 1;
    this.stepsPerSecond = 5;
    this.playing = false;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
  }

  // Whole steps for readers who asked for less motion, smooth in between for all others.
  get shownTime() {
    return this.calm.matches ? Math.floor(this.time) : this.time;
  }

  get step() {
    return Math.floor(this.time);
  }

  load(steps, stepsPerSecond) {
    Object.assign(this, { steps, stepsPerSecond });
    this.jump(Math.min(this.time, steps));
  }

  jump(time) {
    this.time = Math.max(0, Math.min(time, this.steps));
    this.onChange();
  }

  move(steps) {
    this.pause();
    this.jump(Math.round(this.time) + steps);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.steps) this.time = 0;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.#tick(now));
    this.onChange();
  }

  pause() {
    this.playing = false;
    this.onChange();
  }

  #tick(now) {
    if (!this.playing) return;
    const passed = Math.max(0, now - this.last) / 1000;
    this.last = now;
    this.time = Math.min(this.steps, this.time + passed * this.stepsPerSecond * this.speed);
    if (this.time >= this.steps) this.playing = false;
    else requestAnimationFrame((next) => this.#tick(next));
    this.onChange();
  }
}
