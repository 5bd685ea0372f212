// One policy at play: what is chosen, the world it plays in, and its agents' numbers.

class Stage {
  // `focus` is the agent looked at: all stages share it, since an agent starts at the same place in each.
  constructor(element, { optional, focus, onChoice, onScrub }) {
    this.element = element;
    this.optional = optional;
    this.focus = focus;
    this.replay = null;
    this.shownTime = 0;
    this.wanted = {}; // the method and seed that the reader chose
    this.method = make("select", { ariaLabel: "Method" });
    this.seed = make("select", { ariaLabel: "Seed" });
    this.result = make("span", { className: "result" });
    this.canvas = make("canvas", { role: "img" });
    this.agents = make("ol", { className: "agents", ariaLabel: "Agents" });
    const head = [make("span", { className: "swatch" }), this.method, this.seed, this.result];
    this.element.append(make("div", { className: "stage-head" }, ...head));
    this.attention = new AttentionTable();
    const numbers = make("div", { className: "numbers" }, this.agents, this.attention.element);
    this.presence = new PresenceBars(onScrub);
    this.picture = make("div", { className: "picture" }, this.canvas, this.presence.canvas);
    this.element.append(make("div", { className: "stage-body" }, this.picture, numbers));
    this.pen = new Pen(this.canvas);
    for (const choice of ["method", "seed"]) {
      this[choice].addEventListener("change", () => {
        this.wanted[choice] = this[choice].value;
        onChoice();
      });
    }
    this.canvas.addEventListener("pointermove", (event) => this.focus.pointAt(this.#agentUnder(event)));
    this.canvas.addEventListener("pointerleave", () => this.focus.pointAt(null));
    this.canvas.addEventListener("click", (event) => this.focus.choose(this.#agentUnder(event)));
  }

  // Offers the methods and seeds among these replays: the ones the reader chose, or else the wish.
  offer(entries, wish) {
    const titles = new Map(entries.map(({ method, title }) => [method, title]));
    const none = this.optional ? [["", "None"]] : [];
    fill(this.method, [...none, ...titles], this.wanted.method ?? wish);
    const seeds = valuesOf(entries.filter(({ method }) => method === this.method.value), "seed");
    fill(this.seed, seeds.map((seed) => [String(seed), `seed ${seed}`]), this.wanted.seed);
    this.seed.hidden = seeds.length === 0;
  }

  choose(entries) {
    const [method, seed] = [this.method.value, this.seed.value];
    this.entry = entries.find((entry) => entry.method === method && String(entry.seed) === seed);
    return this.entry;
  }

  // `steps` are those of the longest episode shown: all stages have one clock.
  show(replay, steps) {
    this.replay = replay;
    this.element.toggleAttribute("data-empty", replay === null);
    this.presence.show(replay, steps);
    if (replay === null) return;
    this.returns = returnsSoFar(replay);
    this.#buildAgents();
    this.attention.show(replay);
  }

  #buildAgents() {
    const withContext = Boolean(this.replay.gate || this.replay.alignment);
    this.chips = this.replay.world.positions[0].map((_, agent) => this.#buildChip(agent, withContext));
    const items = this.chips.map((chip) => make("li", {}, chip));
    if (!withContext) items.push(make("li", { className: "none" }, "This method has no context."));
    this.agents.classList.toggle("with-context", withContext);
    this.agents.replaceChildren(...items);
  }

  // A button with the agent's number and, if it has a context, its alignment and gate.
  #buildChip(agent, withContext) {
    const parts = withContext ? ["dot", "value", "gate"] : [];
    const spans = parts.map((className) => make("span", { className }));
    const chip = make("button", { type: "button" }, make("b", {}, agent + 1), ...spans);
    chip.addEventListener("click", () => this.focus.choose(agent));
    chip.addEventListener("pointerenter", () => this.focus.pointAt(agent));
    chip.addEventListener("pointerleave", () => this.focus.pointAt(null));
    return chip;
  }

  draw(time, box, showRange) {
    if (!this.replay) return;
    const world = TASKS[this.replay.task];
    const looked = this.focus.agents.filter((agent) => isPresent(this.replay, time, agent));
    this.shownTime = time;
    const observers = showRange ? (looked.length ? looked : teamAt(this.replay, time)) : [];
    this.picture.style.setProperty("--ratio", box.width / box.height);
    this.pen.begin(box);
    world.draw(this.pen, this.replay, time, { highlighted: looked, observers });
    for (const agent of looked) this.#drawLabel(world, box, time, agent);
    this.presence.draw(time);
  }

  #radius(world, agent) {
    return world.radius?.(this.replay, agent) ?? world.agentRadius;
  }

  // The numbers of a pointed-at or chosen agent, above it, or below it at the world's upper edge.
  #drawLabel(world, box, time, agent) {
    const { pen, replay } = this;
    const [x, y] = world.places(replay, time)[agent];
    const height = 13 * (devicePixelRatio || 1) / pen.scale;
    const away = this.#radius(world, agent) * 1.3 + height;
    const room = box.upward ? box.top + box.height - y : y - box.top;
    const middle = y + (room > away + height ? -1 : 1) * pen.sign * away;
    const context = contextText(contextOf(replay, time, agent));
    const words = `agent ${agent + 1}${context && `: ${context}`}`;
    pen.text(0, 0, "", { colour: palette.ink, height }); // so that the words are measured in their font
    const width = pen.context.measureText(words).width / pen.scale + height;
    const left = Math.max(box.left, Math.min(x - width / 2, box.left + box.width - width));
    pen.box(left, middle - height * 0.8, width, height * 1.6, { fill: palette.ink, radius: height * 0.4 });
    pen.text(left + width / 2, middle, words, { colour: palette.paper, height });
  }

  // The texts beside the picture; only needed when the step changes.
  describe(step) {
    if (!this.replay) return;
    const { replay } = this;
    const last = replay.reward.length;
    const soFar = this.returns[Math.min(step, last)];
    const ended = step > last ? `, ended at ${last}` : "";
    const whole = ` of ${numberText(replay.return)}${ended}`;
    this.result.replaceChildren("return ", make("strong", {}, numberText(soFar)), whole);
    const title = `${TASKS[replay.task].title}, ${this.method.selectedOptions[0].textContent}`;
    const progress = `step ${Math.min(step, last)} of ${last}, return so far ${numberText(soFar)}`;
    this.canvas.ariaLabel = `${title}, ${teamAt(replay, step).length} agents, ${progress}`;
    this.presence.describe(Math.min(step, last), teamAt(replay, step));
    this.chips.forEach((chip, agent) => this.#describeAgent(chip, agent, step));
    this.attention.describe(stepAt(replay, step), teamAt(replay, step), this.focus.agents);
  }

  #describeAgent(chip, agent, step) {
    const context = contextOf(this.replay, step, agent);
    const text = contextText(context);
    chip.title = text;
    chip.style.visibility = isPresent(this.replay, step, agent) ? "" : "hidden"; // its place stays its own
    chip.ariaLabel = `Agent ${agent + 1}${text && `: ${text}`}`;
    chip.ariaPressed = this.focus.chosen === agent;
    chip.classList.toggle("near", this.focus.near === agent);
    const [, dot, value, gate] = chip.children;
    if (!gate) return;
    dot.style.setProperty("--colour", alignmentColour(context.alignment));
    value.textContent = context.alignment === null ? "" : numberText(context.alignment / 100, 2);
    gate.hidden = context.gate === null;
    gate.style.setProperty("--gate", `${context.gate}%`);
  }

  #agentUnder(event) {
    if (!this.replay) return null;
    const world = TASKS[this.replay.task];
    const point = this.pen.under(event.clientX, event.clientY);
    const away = world.places(this.replay, this.shownTime).map((place) => distance(place, point));
    const [nearest] = teamAt(this.replay, this.shownTime).sort((one, other) => away[one] - away[other]);
    return away[nearest] < this.#radius(world, nearest) * 1.5 ? nearest : null;
  }
}
