"""`pc3d evaluate RUN --links-dropped 0,0.15,1`: what a policy with messages is worth when links are lost."""

import math
from pathlib import Path

from pc3d.cli.display import Terminal, counted
from pc3d.cli.score_tables import returns_table
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.evaluation.messages import FILE, evaluate_losses, talking_actor
from pc3d.evaluation.run import EvaluationSettings, about_policy
from pc3d.runs.policy import load_policy
from pc3d.system.errors import BadInput, shortened
from pc3d.tasks.make import playable


def shares_of(text: str) -> tuple[float, ...]:
    """Numbers from 0 to 1, separated by commas, each once."""
    try:
        shares = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        shares = (math.nan,)
    if not all(0 <= share <= 1 for share in shares):
        raise BadInput(f"--links-dropped takes shares from 0 to 1, such as 0,0.15,1, not {shortened(text)!r}")
    return shares


def check_by_itself(option: str, settings: EvaluationSettings, *others: str | None) -> None:
    """Refuse what messages that are lost or spared are not scored with."""
    if settings.world is not None or settings.original or any(others):
        raise BadInput(
            f"{option} is scored in our own worlds of the usual size, with constant teams: "
            "give nothing beside it but --team-sizes, --rollouts and --actions"
        )


def evaluate_lost_links(
    path: Path, target: Path, text: str, settings: EvaluationSettings, team_sizes: str | None
) -> None:
    """Play one policy with each of the shares, write what it brings, and print it."""
    policy, shares = load_policy(path), shares_of(text)
    talking_actor(policy)  # says so before anything is played,
    playable(policy.task)  # and so does this
    rosters = policy.experiment.rosters
    sizes = team_sizes_for(policy.task, team_sizes, rosters.all)
    with counted(f"{path}, lost links", len(shares) * len(sizes)) as advance:
        found = evaluate_losses(
            *(policy, shares, sizes, settings.rollouts),
            greedy=settings.greedy,
            about=about_policy(policy, policy.task),
            folder=target,
            advance=advance,
        )
    console = Terminal()
    console.print(str(path), soft_wrap=True, highlight=False)
    console.print(returns_table({f"{share:g} dropped": found[share] for share in shares}, rosters))
    console.print(f"wrote {target / FILE}", soft_wrap=True, highlight=False)
