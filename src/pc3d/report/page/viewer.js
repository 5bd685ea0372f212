// The replay viewer: two policies side by side on the same start, played by mouse, touch or keyboard.

class Viewer {
  constructor(root) {
    this.root = root;
    this.entries = readIndex();
    this.opening = readOpening();
    this.box = null;
    this.describedStep = null;
    this.player = new Player(() => this.draw());
    this.focus = new Focus(() => this.refresh());
    const onScrub = (time) => this.scrubTo(time);
    this.stages = [...root.querySelectorAll(".stage")].map((element, number) => {
      const parts = { optional: number > 0, focus: this.focus, onChoice: () => this.choose(), onScrub };
      return new Stage(element, parts);
    });
    this.chart = new Chart(this.part("chart"), onScrub);
    this.listen();
    this.offerTasks();
  }

  part(name) {
    return this.root.querySelector(`#${name}`);
  }

  listen() {
    const { player } = this;
    this.part("task").addEventListener("change", () => this.offerSizes());
    this.part("sizes").addEventListener("change", () => this.choose());
    this.part("range").addEventListener("change", () => this.draw());
    this.part("play").addEventListener("click", () => player.toggle());
    this.part("back").addEventListener("click", () => player.move(-1));
    this.part("forward").addEventListener("click", () => player.move(1));
    this.part("scrub").addEventListener("input", (event) => this.scrubTo(Number(event.target.value)));
    this.part("speed").addEventListener("change", (event) => (player.speed = Number(event.target.value)));
    document.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw()).observe(this.root);
    onThemeChange(() => {
      this.drawLegend();
      this.refresh();
    });
  }

  // Keys that a focused control needs for itself are left to it.
  pressed(event) {
    const focused = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (focused === document.body ? !this.inSight() : !this.root.contains(focused)) return;
    const ten = event.shiftKey ? 10 : 1;
    const keys = {
      " ": () => this.player.toggle(),
      ArrowLeft: () => this.player.move(-ten),
      ArrowRight: () => this.player.move(ten),
      Home: () => this.player.move(-Infinity),
      End: () => this.player.move(Infinity),
      o: () => this.part("range").click(),
    };
    const action = keys[event.key];
    const typed = focused.matches("select, input:not([type=range], [type=checkbox])");
    const pressable = focused.matches("button, [type=checkbox], a") && event.key === " ";
    if (!action || typed || pressable) return;
    event.preventDefault();
    action();
  }

  // Whether the viewer is what the reader looks at: keys then mean it though nothing has the focus.
  inSight() {
    const { top, bottom } = this.root.getBoundingClientRect();
    return top < innerHeight / 2 && bottom > innerHeight / 2;
  }

  scrubTo(time) {
    this.player.pause();
    this.player.jump(Math.round(time));
  }

  offerTasks() {
    const tasks = valuesOf(this.entries, "task");
    fill(this.part("task"), tasks.map((task) => [task, TASKS[task].title]), this.opening.task);
    this.offerSizes();
  }

  get taskEntries() {
    return this.entries.filter(({ task }) => task === this.part("task").value);
  }

  // The size that was shown stays, if the task has it; at first it is the one the page opens with, or else the
  // largest that was never trained on.
  offerSizes() {
    const sizes = valuesOf(this.taskEntries, "team_size");
    const splitOf = (size) => this.taskEntries.find(({ team_size: other }) => other === size).split;
    const unseen = sizes.filter((size) => splitOf(size) !== "train");
    const opens = this.part("task").value === this.opening.task ? this.opening.team_size : null;
    const wanted = [this.size, opens].find((size) => sizes.includes(size)) ?? unseen.at(-1) ?? sizes.at(-1);
    const choices = sizes.map((size) => sizeChoice(size, splitOf(size), size === wanted));
    this.part("sizes").replaceChildren(...choices);
    this.drawLegend();
    this.player.time = 0;
    this.choose();
  }

  get size() {
    const chosen = this.root.querySelector("#sizes :checked");
    return chosen ? Number(chosen.value) : null;
  }

  async choose() {
    const entries = this.taskEntries.filter(({ team_size: size }) => size === this.size);
    const methods = valuesOf(entries, "method");
    const first = methods.includes("pc3d") ? "pc3d" : methods[0];
    const others = methods.filter((method) => method !== first);
    const second = others.includes("mappo") ? "mappo" : others[0];
    [first, second ?? ""].forEach((wish, number) => this.stages[number].offer(entries, wish));
    const chosen = this.stages.map((stage) => stage.choose(entries));
    const choice = (this.choice = chosen.map((entry) => entry?.number).join());
    const replays = await Promise.all(chosen.map((entry) => (entry ? unpack(entry.number) : null)));
    if (choice === this.choice) this.show(replays); // else another choice was made meanwhile
  }

  show(replays) {
    const shown = replays.filter((replay) => replay !== null);
    const world = TASKS[shown[0].task];
    const steps = Math.max(...shown.map(({ reward }) => reward.length));
    this.focus.limit(shown[0].world.positions[0].length);
    this.stages.forEach((stage, number) => stage.show(replays[number], steps));
    this.part("usual").textContent = usualText(this.stages.map((stage) => stage.entry).filter(Boolean));
    this.part("split").textContent = SPLIT_TITLES[shown[0].split] ?? shown[0].split;
    this.box = world.box(shown);
    this.part("scrub").max = steps;
    this.describedStep = null;
    this.player.load(steps, world.stepsPerSecond);
  }

  refresh() {
    this.describedStep = null;
    this.draw();
  }

  draw() {
    if (!this.box) return;
    const { player } = this;
    const time = player.shownTime;
    for (const stage of this.stages) stage.draw(time, this.box, this.part("range").checked);
    this.chart.show(this.lines(), player.steps);
    this.chart.draw(time);
    this.describe();
  }

  lines() {
    const looks = [{ colour: palette.first, dash: [] }, { colour: palette.second, dash: [4, 6] }];
    const lines = this.stages.map(({ returns }, number) => ({ returns, ...looks[number] }));
    return lines.filter((_, number) => this.stages[number].replay);
  }

  describe() {
    const { player } = this;
    const play = this.part("play");
    play.toggleAttribute("data-playing", player.playing);
    play.ariaLabel = player.playing ? "Pause" : "Play";
    if (player.step === this.describedStep) return;
    this.describedStep = player.step;
    this.part("scrub").value = player.step;
    this.part("clock").textContent = `${player.step} / ${player.steps}`;
    this.part("chart").ariaLabel = `Return so far, at step ${player.step} of ${player.steps}`;
    for (const stage of this.stages) stage.describe(player.step);
  }

  drawLegend() {
    const world = TASKS[this.part("task").value];
    const scale = make("span", { className: "scale" });
    const alignment = make("li", {}, "−1", scale, "1: alignment with the teacher");
    const agent = (pen) => drawAgent(pen, 0, 0, 0.42, { gate: 65, alignment: 80 });
    const unit = { left: -0.5, top: -0.5, width: 1, height: 1 };
    const rows = world.legend.map(([text, draw]) => [text, draw, world.legendBox]);
    rows.push(["ring: how far the gate is open", agent, unit]);
    const items = rows.map(([text]) => make("li", {}, make("canvas"), text));
    this.part("legend").replaceChildren(...items, alignment, make("li", {}, world.observed));
    rows.forEach(([, draw, box], number) => {
      const pen = new Pen(items[number].firstChild);
      pen.begin(box); // a canvas has a size only once it is on the page
      draw(pen);
    });
  }
}

// What the two policies bring on average, since single episodes can be unlike that.
function usualText(entries) {
  const known = entries.filter(({ usual }) => usual);
  if (known.length === 0 || known.length < entries.length) return "";
  const counts = [...new Set(known.map(({ usual }) => usual.episodes))];
  const means = known.map(({ title, usual }) => `${title} ${numberText(usual.return)}`).join(" and ");
  const [start, seeds] = known.length > 1 ? [" of each, from the same start", "these seeds"] : ["", "this seed"];
  const text = `One episode${start}. On average over ${counts.join(" and ")} episodes at this size, with ${seeds}, `
    + `the return is: ${means}.`;
  return othersAhead(known) ? `${text} Here it is the other way round: single episodes differ that much.` : text;
}

function othersAhead(entries) {
  if (entries.length < 2) return false;
  const [shown, usual] = [(entry) => entry.return, (entry) => entry.usual.return].map(
    (value) => Math.sign(value(entries[0]) - value(entries[1])),
  );
  return shown !== usual;
}

function sizeChoice(size, split, checked) {
  const meaning = SPLIT_TITLES[split] ?? split;
  const look = { title: meaning, className: split === "train" ? "" : "unseen" };
  const ariaLabel = `${size} agents, ${meaning}`;
  const input = make("input", { type: "radio", name: "team-size", value: size, checked, ariaLabel });
  return make("label", look, input, make("span", {}, size));
}

const viewerSection = document.getElementById("viewer");
if (viewerSection) new Viewer(viewerSection);
