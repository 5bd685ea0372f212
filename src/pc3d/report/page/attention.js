// The teacher's two attentions: what each token takes from every agent, and what each agent takes of every token.

class AttentionTable {
  element = make("table", { className: "attention", ariaLabel: "The teacher's attention" });

  // A row for each agent, with a cell for each token under both headings; replays of before have no attention.
  show({ attention }) {
    this.attention = attention;
    this.element.hidden = !attention;
    if (!attention) return;
    const [agents] = attention.over_agents;
    const cells = (first) => agents[0].map((_, token) => make("td", { className: token ? "" : first }));
    const heading = (text) => make("th", { colSpan: agents[0].length }, text);
    const head = make("tr", {}, make("th", {}, "agent"), heading("tokens look at it"), heading("it reads of tokens"));
    const number = (agent) => make("th", {}, agent + 1);
    const rows = agents.map((_, agent) => make("tr", {}, number(agent), ...cells(""), ...cells("apart")));
    this.element.replaceChildren(head, ...rows);
  }

  // `team` are the agents that are there, `looked` those that the reader looks at.
  describe(step, team, looked) {
    if (!this.attention) return;
    const { over_agents: given, over_tokens: taken } = this.attention;
    given[step].forEach((shares, agent) => {
      const row = this.element.rows[agent + 1];
      row.style.visibility = team.includes(agent) ? "" : "hidden";
      row.classList.toggle("near", looked.includes(agent));
      [...shares, ...taken[step][agent]].forEach((share, place) => {
        const cell = row.cells[place + 1];
        cell.style.setProperty("--share", `${share}%`);
        cell.title = `${share} %`;
      });
    });
  }
}
