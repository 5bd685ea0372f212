"""Run folders with made-up numbers, as training and evaluation would have left them."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from pc3d.experiment.experiment import Experiment
from pc3d.presets.experiment_file import to_plain
from pc3d.presets.paper import paper
from pc3d.runs.run_folder import RunFolder
from pc3d.tasks.make import make_task

LINES = 200


def make_run(
    root: Path,
    task: str,
    method: str,
    seed: int,
    returns: dict[int, list[float]] | None,
    *,
    done: bool = True,
    **changes,
) -> RunFolder:
    """A run with these scores by team size; none at all for None."""
    experiment = replace(paper(task, method, seed=seed), **changes)
    folder = RunFolder(root / task / method / f"seed-{seed}")
    folder.path.mkdir(parents=True)
    definition = make_task(experiment).return_definition
    about = {"experiment": to_plain(experiment), "return_definition": definition}
    folder.experiment_file.write_text(json.dumps(about))
    if done:
        folder.done_file.write_text("{}")
        folder.final.write_bytes(b"a policy")
    if returns is not None:
        write_scores(folder.path / "scores.csv", [(experiment, returns)])
    return folder


def write_references(path: Path, task: str, players: dict[str, dict[int, list[float]]]) -> None:
    """A references.csv with these players' returns by team size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [(replace(paper(task, "ippo"), method=name), returns) for name, returns in players.items()]
    write_scores(path, rows)


def write_scores(path: Path, players: list[tuple[Experiment, dict[int, list[float]]]]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["task", "method", "seed", "split", "team_size", "rollout", "return"])
        for player, returns in players:
            for size, values in returns.items():
                for rollout, value in enumerate(values):
                    split = player.rosters.split_of(size)
                    writer.writerow(
                        [player.task, player.method, player.seed, split, size, rollout, repr(float(value))]
                    )


def add_metrics(folder: RunFolder, random: np.random.Generator, *, level: float, rise: float) -> None:
    """A training history that rises over the curriculum, with a clock."""
    experiment = folder.experiment()
    lines = []
    for number in range(1, LINES + 1):
        episodes = experiment.episodes * number // LINES
        stage = experiment.curriculum.stage_index(episodes - 1, experiment.episodes) + 1
        value = (
            level * (0.4 + 0.15 * stage)
            + rise * (1 - np.exp(-4 * number / LINES))
            + random.normal() * rise / 8
        )
        size = str(experiment.curriculum.stages[stage - 1].largest)
        positions = {"update": number, "episodes": episodes, "stage": stage}
        lines.append({**positions, "return": value, "return_by_size": {size: [10, value]}})
    folder.metrics.write_text("".join(json.dumps(line) + "\n" for line in lines))
    folder.clock.write_text('{"updates": 100, "seconds": 50.0}\n{"updates": 100, "seconds": 100.0}\n')


def add_context(folder: RunFolder, random: np.random.Generator) -> None:
    """A context.json as evaluation writes it."""
    rosters = folder.experiment().rosters
    by_size = {
        str(size): {
            "split": rosters.split_of(size),
            "alignment": 0.95 - 0.04 * size + 0.02 * random.normal(),
            "alignment_with_teammates": None if size == 1 else 0.5 - 0.01 * size,
            "alignment_of_a_constant": 0.4 + 0.01 * size,
            "variance_explained": 0.1 * size,
            "personal_share": None if size == 1 else 0.05 * size,
            "attention_over_agents": None if size == 1 else 0.9 - 0.01 * size,
            "attention_over_tokens": 0.8,
            "effective_tokens": 2.0,
            "alignment_by_step": list(0.9 - 0.04 * size - 0.4 * np.exp(-np.arange(25) / 5)),
            "gate_mean": 0.4 + 0.03 * size + 0.03 * random.normal(),
            "gate_deviation": 0.1,
            "return": -3.0,
            "return_gate_off": -5.0,
            "return_gate_on": -4.0,
        }
        for size in rosters.all
    }
    (folder.path / "context.json").write_text(json.dumps({"rollouts": 8, "by_size": by_size}))
