"""`pc3d evaluate RUN --mix MIX`: what it prints of teams of unlike agents."""

from pathlib import Path

import numpy as np
from rich.table import Table

from pc3d.cli.display import Terminal, counted, table
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.evaluation.run import EvaluationSettings
from pc3d.evaluation.unlike import MixScores, evaluate_mix, file_of
from pc3d.experiment.mixes import SPLITS
from pc3d.experiment.rosters import Rosters
from pc3d.runs.policy import load_policy
from pc3d.system.errors import BadInput
from pc3d.tasks.named_mixes import mixes_to_play

NOTHING = "–"


def check_alone(settings: EvaluationSettings, roster: str | None) -> None:
    """Refuse what mixes are not played with."""
    if settings.world is not None or settings.original or roster is not None:
        raise BadInput(
            "mixes are scored in our own worlds of the usual size, with constant teams: "
            "give none of --world, --backend and --roster"
        )


def evaluate_mixes(
    path: Path, target: Path, text: str, settings: EvaluationSettings, team_sizes: str | None
) -> None:
    """Play one policy's mixes, write what they bring, and print it."""
    policy = load_policy(path)
    mixes, rosters = mixes_to_play(text, policy.experiment), policy.experiment.rosters
    sizes = team_sizes_for(policy.task, team_sizes, rosters.all)
    with counted(f"{path}, mixes", len(mixes) * len(sizes)) as advance:
        found = [evaluate_mix(policy, mix, sizes, settings, target, advance) for mix in mixes]
    console = Terminal()
    console.print(str(path), soft_wrap=True, highlight=False)
    console.print(_table(found, rosters, settings.rollouts))
    files = [file_of(one.mix) for one in found]
    place = target / files[0] if len(files) == 1 else f"{', '.join(files)} in {target}"
    console.print(f"wrote {place}", soft_wrap=True, highlight=False)


def _table(found: list[MixScores], rosters: Rosters, rollouts: int) -> Table:
    title = f"Mean return over {rollouts} rollouts of each size, by mix and by split of the sizes"
    headings = ("mix", "split", *(f"{split} sizes" for split in SPLITS))
    rows = ((one.mix, one.split, *(_mean(one, getattr(rosters, split)) for split in SPLITS)) for one in found)
    made = table(title, headings, rows, words=2, narrow=True)
    made.title_style = ""
    return made


def _mean(scores: MixScores, sizes: tuple[int, ...]) -> str:
    means = [scores.returns[size].mean() for size in sizes if size in scores.returns]
    return f"{np.mean(means):.3f}" if means else NOTHING
