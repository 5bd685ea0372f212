// Which agents the reader looks at: one that was clicked, and the one under the pointer.
class Focus {
  constructor(onChange) {
    this.onChange = onChange;
    this.chosen = null;
    this.near = null;
  }

  get agents() {
    return [...new Set([this.chosen, this.near])].filter((agent) => agent !== null);
  }

  // In a smaller team, an agent that was looked at may not be there.
  limit(teamSize) {
    if (this.chosen >= teamSize) this.chosen = null;
    if (this.near >= teamSize) this.near = null;
  }

  pointAt(agent) {
    if (this.near === agent) return;
    this.near = agent;
    this.onChange();
  }

  choose(agent) {
    this.chosen = this.chosen === agent ? null : agent;
    this.onChange();
  }
}
