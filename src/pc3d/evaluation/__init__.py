"""How well a policy cooperates at each team size, and what goes on inside it: scores, contexts, replays."""
