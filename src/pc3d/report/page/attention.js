// The teacher's two attentions: what each token takes from every agent, and what each agent takes of every token.

class AttentionTable {
  constructor() {
    this.element = labelled(make("table", { className: "attention" }), "The teacher's attention");
  }

  // A row for each agent, with a cell for each token under both headings; replays of before have no attention.
  show(replay) {
    this.attention = replay.attention ?? null;
    this.element.hidden = this.attention === null;
    if (this.attention === null) return;
    const [first] = this.attention.over_agents;
    const tokens = [...first[0].keys()];
    this.rows = first.map((_, agent) => make("tr", {}, make("th", {}, agent + 1)));
    this.cells = this.rows.map((row) => {
      const cells = [...tokens, ...tokens].map((_, place) => make("td", { className: place === tokens.length ? "apart" : "" }));
      row.append(...cells);
      return cells;
    });
    const heading = (text) => make("th", { colSpan: tokens.length }, text);
    const head = make("tr", {}, make("th", {}, "agent"), heading("tokens look at it"), heading("it reads of tokens"));
    this.element.replaceChildren(head, ...this.rows);
  }

  // `team` are the agents that are there, `looked` those that the reader looks at.
  describe(step, team, looked) {
    if (this.attention === null) return;
    const [given, taken] = [this.attention.over_agents[step], this.attention.over_tokens[step]];
    this.cells.forEach((cells, agent) => {
      const here = team.includes(agent);
      const shares = [...given[agent], ...taken[agent]];
      this.rows[agent].style.visibility = here ? "" : "hidden";
      this.rows[agent].classList.toggle("near", looked.includes(agent));
      cells.forEach((cell, number) => {
        cell.style.setProperty("--share", `${shares[number]}%`);
        cell.title = `${shares[number]} %`;
      });
    });
  }
}
