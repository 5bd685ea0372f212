"""Evaluating a policy from beginning to end, and what it leaves in a folder."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.context import context_summary
from pc3d.evaluation.evaluation_file import file_names, suffix_of, write_evaluation
from pc3d.evaluation.hindrance import HINDERED, scores_and_hindrance
from pc3d.evaluation.messages import looking_at_messages
from pc3d.evaluation.recording import record
from pc3d.evaluation.references import reference_teams
from pc3d.evaluation.replay import has_replays, replay
from pc3d.evaluation.table import MESSAGES, Player, ScoreRow, as_csv, score_rows
from pc3d.experiment.methods import method_named
from pc3d.experiment.ranges import Rollouts
from pc3d.experiment.rosters import Rosters
from pc3d.play.arena import Arena, wide_for
from pc3d.play.scores import SizeScores, score, scores_of
from pc3d.play.starts import STARTS_SEED, rollout_keys
from pc3d.play.talking_team import team_of
from pc3d.play.team import Team
from pc3d.runs.policy import Policy
from pc3d.system.bounds import Bounded
from pc3d.system.errors import BadInput
from pc3d.system.files import (
    LARGEST_DIGESTED,
    digest_of,
    explained,
    one_owner,
    read_bytes,
    refuse_oddities,
    write_atomically,
)
from pc3d.tasks.task import Game, World

Advance = Callable[[], None]


@dataclass(frozen=True)
class EvaluationSettings(Bounded):
    """How a policy is evaluated; all of it is written beside the scores."""

    rollouts: Rollouts = 100
    """Rollouts per team size."""
    actions: Literal["sampled", "greedy"] = "sampled"
    """Sampled as in training (most policies are trained to be stochastic), or always the likeliest.

    Of policies that value actions it is always the best one; of real numbers, greedy ones are the
    squashed means.
    """
    backend: Literal["jax", "original"] = "jax"
    """Our worlds, or the original packages from the same starts with the same draws."""
    context_rollouts: Rollouts = 8
    """Rollouts per team size for what goes on inside: context alignment and gates."""
    world: World | None = None
    """Score large teams in the task's own world or in one that grows with the team; in files of their own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.world is not None and self.backend == "original":
            raise BadInput(
                "large teams are scored in our own worlds: give either --world or --backend original"
            )

    @property
    def original(self) -> bool:
        return self.backend == "original"

    @property
    def suffix(self) -> str:
        """In the names of files that hold scores alone."""
        return suffix_of(self.backend, self.world)

    @property
    def references_file(self) -> str:
        return f"references{self.suffix}.csv"

    def measure_names(self, game: Game) -> tuple[str, ...]:
        """What is measured besides the return."""
        return game.measure_names if self.world is None else (*game.measure_names, HINDERED)

    @property
    def looks_inside(self) -> bool:
        """Whether contexts and replays are taken, too."""
        return not self.suffix

    @property
    def greedy(self) -> bool:
        return self.actions == "greedy"


DEFAULT_SETTINGS = EvaluationSettings()


def evaluate(
    policy: Policy,
    arena: Arena,
    folder: Path,
    team_sizes: tuple[int, ...] | None = None,
    settings: EvaluationSettings = DEFAULT_SETTINGS,
    advance: Advance = lambda: None,
) -> list[ScoreRow]:
    """Score a policy at every size and write contexts, replays and scores; `advance` counts `parts`.

    The scores come last, and old ones go first: where they lie, all of the evaluation does.
    """
    sizes = policy.experiment.rosters.all if team_sizes is None else team_sizes
    if not sizes:
        raise BadInput("no team size to score was named")
    policy.experiment.rosters.refuse_sealed(sizes)
    for size in sizes:
        wide_for(arena, size)  # says what is wrong with the size, if anything is
    if settings.original and arena.compiled:
        raise BadInput("scoring on the original packages needs a crew that steps them")
    experiment, team = policy.experiment, team_of(policy.actor, greedy=settings.greedy)
    player = Player(experiment.task, experiment.method, experiment.seed)
    wide, rows = wide_for(arena, max(sizes)), []
    for size in sizes:
        scores = scored(arena if settings.world else wide, team, size, settings)
        rows += score_rows(player, experiment.rosters, size, scores)
        advance()
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_oddities(folder, ("replays",))
        with one_owner(folder):
            scores_file, rules_file = file_names(settings.suffix)
            for outdated in (scores_file, rules_file):
                (folder / outdated).unlink(missing_ok=True)
            if settings.looks_inside:
                _look_inside(policy, wide, folder, sizes, settings, advance)
            told = (MESSAGES,) if team.execution.messages else ()
            content = as_csv(rows, (*settings.measure_names(arena.game), *told))
            write_evaluation(folder, _about(policy, sizes, settings), content)
            write_atomically(folder / scores_file, content)
    return rows


def returns_of(rows: list[ScoreRow]) -> dict[int, Float[np.ndarray, " rollout"]]:
    """The returns in a table of scores, by team size."""
    return _by_size([(row.team_size, row.returned) for row in rows])


def messages_of(rows: list[ScoreRow]) -> dict[int, Float[np.ndarray, " rollout"]]:
    """In the same way, how many messages each agent heard at a step; nothing of a policy that sends none."""
    return _by_size([(row.team_size, row.measures[MESSAGES]) for row in rows if MESSAGES in row.measures])


def _by_size(numbers: list[tuple[int, float]]) -> dict[int, Float[np.ndarray, " rollout"]]:
    sizes = dict.fromkeys(size for size, _ in numbers)
    return {size: np.array([number for of, number in numbers if of == size]) for size in sizes}


def parts(sizes: int, settings: EvaluationSettings) -> int:
    """How often `evaluate` will say that it has advanced."""
    return 2 * sizes if settings.looks_inside else sizes


def evaluate_references(
    arena: Arena,
    task: str,
    rosters: Rosters,
    team_sizes: tuple[int, ...],
    settings: EvaluationSettings,
    folder: Path,
    advance: Advance,
) -> list[ScoreRow]:
    """Score the players that never learned, and write references.csv; `task` is what its runs call it."""
    rows = []
    for name in reference_teams(arena.game):
        for size in team_sizes:
            narrow = wide_for(arena, size)
            scores = scored(narrow, reference_teams(narrow.game)[name], size, settings)
            rows += score_rows(Player(task, name), rosters, size, scores)
            advance()
    with explained(f"writing to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / settings.references_file, as_csv(rows, settings.measure_names(arena.game)))
    return rows


def scored(arena: Arena, team: Team, size: int, settings: EvaluationSettings) -> SizeScores:
    """One team size; of a large team also how much its members are in each other's way."""
    if settings.world is None:
        return score(arena, team, size, settings.rollouts, looking_at_messages(team, scores_of))
    look = looking_at_messages(team, scores_and_hindrance)
    return score(wide_for(arena, size), team, size, settings.rollouts, look)


def _look_inside(
    policy: Policy,
    arena: Arena,
    folder: Path,
    sizes: tuple[int, ...],
    settings: EvaluationSettings,
    advance: Advance,
) -> None:
    """Write one replay per size (if the task has replays) and context.json (if the method has contexts)."""
    replays = folder / "replays"
    replays.mkdir(exist_ok=True)
    for outdated in (*replays.glob("size-*.json"), *folder.glob("context.json")):
        outdated.unlink()
    contexts = {}
    # The first rollout is the replay; only contexts need more.
    rollouts = settings.context_rollouts if method_named(policy.experiment.method).has_context else 1
    for size in sizes:
        keys = rollout_keys(size, rollouts)
        recording = record(arena, policy.networks, keys, size, greedy=settings.greedy)
        if has_replays(policy.experiment.task):
            document = json.dumps(replay(policy, recording.one(0), 0), separators=(",", ":"))
            write_atomically(replays / f"size-{size}.json", document.encode())
        if recording.context is not None:
            contexts[str(size)] = context_summary(policy, arena, recording, greedy=settings.greedy)
        advance()
    if contexts:
        content = {"rollouts": settings.context_rollouts, "by_size": contexts}
        text = json.dumps(content, sort_keys=True, indent=2) + "\n"
        write_atomically(folder / "context.json", text.encode())


def _about(policy: Policy, sizes: tuple[int, ...], settings: EvaluationSettings) -> dict[str, Any]:
    """What the scores are scores of, and by which rules."""
    return {
        **about_policy(policy, policy.task),
        "team_sizes": list(sizes),
        **{name: value for name, value in asdict(settings).items() if value is not None},
        **({"actions": "greedy"} if policy.actor.values_actions else {}),
    }


def about_policy(policy: Policy, game: Game) -> dict[str, Any]:
    """Whose scores a file holds, and what they are."""
    experiment = policy.experiment
    return {
        "format": 1,
        "task": experiment.task,
        "method": experiment.method,
        "seed": experiment.seed,
        "policy_sha256": digest_of(read_bytes(policy.path, LARGEST_DIGESTED)),
        "return_definition": game.return_definition,
        "starts_seed": STARTS_SEED,
    }
