"""`pc3d evaluate RUN...`: how well finished policies cooperate at every team size."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from pc3d.cli.changing_teams import evaluate_one, rosters_asked_for
from pc3d.cli.coach_intervals import evaluate_intervals
from pc3d.cli.display import Terminal, counted
from pc3d.cli.extensions import admit_method
from pc3d.cli.in_help import File, Folder, Mix, NameOrFile, Numbers, OwnCode, Sizes, TaskName
from pc3d.cli.lost_links import check_by_itself, evaluate_lost_links
from pc3d.cli.own_task import admit_named, with_world
from pc3d.cli.retention import show_retention
from pc3d.cli.score_tables import returns_table
from pc3d.cli.sizes_words import rosters_from_words
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.cli.unlike_agents import check_alone, evaluate_mixes
from pc3d.evaluation.evaluation_file import file_names
from pc3d.evaluation.hindrance import HINDERED
from pc3d.evaluation.references import reference_teams
from pc3d.evaluation.run import (
    DEFAULT_SETTINGS,
    EvaluationSettings,
    evaluate,
    evaluate_references,
    messages_of,
    parts,
    returns_of,
)
from pc3d.evaluation.table import ScoreRow
from pc3d.experiment.experiment import Experiment
from pc3d.experiment.methods import needs_of
from pc3d.experiment.rosters import Rosters
from pc3d.play.arena import Arena, CompiledArena
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.play.opening import open_arena
from pc3d.presets.paper import custom
from pc3d.report.scores import read_scores
from pc3d.runs.lengthening import is_kept
from pc3d.runs.policy import load_policy
from pc3d.runs.run_folder import RunFolder
from pc3d.runs.shipped import found
from pc3d.system.errors import BadInput
from pc3d.system.imports import is_import_path
from pc3d.system.plain import printable
from pc3d.tasks.make import in_world
from pc3d.tasks.named_mixes import ALL
from pc3d.tasks.registry import entry_of, paper_of
from pc3d.tasks.task import Game, Task

LARGE_TEAMS = (16, 32, 64, 128)  # if none are named


@dataclass(frozen=True)
class Command:
    runs: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Run folders, folders of runs, policy files, or names of policies that come with pc3d."""
    settings: Annotated[EvaluationSettings, tyro.conf.arg(name="")] = DEFAULT_SETTINGS
    team_sizes: Sizes = None
    """Such as 1-4,8. All sizes of the experiment if not given; with --world 16, 32, 64 and 128."""
    roster: NameOrFile = None
    """Let teams change: lose-half, churn, ... (docs/changing_teams.md), or several: shocks, churns, all."""
    mix: Mix = None
    """Score teams of unlike agents: all, a mix of the run, or runner=2,hauler=1 (docs/unlike_agents.md)."""
    links_dropped: Numbers = None
    """Score policies that send messages with such shares of links lost, as 0,0.15,1 (docs/neighbours.md)."""
    coach_every: Numbers = None
    """Score policies with a coach that speaks so often, as 1,4,16,never (docs/neighbours.md)."""
    coach_thrift: Numbers = None
    """The same, where it leaves out whatever is no further than this from its last word, as 0,2,5."""
    reference_rollouts: int = 8
    """With --roster: rollouts of the random and the scripted player, which regret is measured by."""
    respawn: bool | None = None
    """With --roster: whether LBF's food grows again, whatever the policy was trained with."""
    teacher: bool = False
    """Show a student beside its teacher, from the checkpoint of its run (docs/distilled_students.md)."""
    references: TaskName = None
    """A task: score its random, idle and scripted players instead of a policy."""
    out: Folder = None
    """Where the files go instead of the run's folder; needed for policy files and references."""
    replace: bool = False
    """Replace scores that have more sizes or rollouts than these will have."""
    task: OwnCode = None
    """The own task these runs were trained on, named again: no file makes us run its code."""
    method: OwnCode = None
    """The own method these runs were trained with, named again, for the same reason."""
    train_sizes: Sizes = None
    """For the references of an own task: the sizes its runs were trained with, as for pc3d train."""
    validation_sizes: Sizes = None
    """In the same way."""
    test_sizes: Sizes = None
    """In the same way."""
    rosters: File = None
    """All of these as a file."""
    horizon: int | None = None
    """With --roster: steps of an episode. For the references of an own task that has no limit of its own."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING

    @property
    def sizes(self) -> tuple[str | None, ...]:
        return self.train_sizes, self.validation_sizes, self.test_sizes


def run(command: Command) -> int:
    if command.references is not None:
        return _run_references(command, command.references)
    _refuse_sizes(command, "a run has its own")
    finished, unfinished = find_policies(command.runs)
    admit_named(command.task)
    admit_method(command.method)
    console = Terminal()
    for folder in unfinished:
        console.print(f"passed over, unfinished: {folder}", soft_wrap=True)
    if not finished:
        raise BadInput(f"no finished run in {', '.join(map(str, command.runs))}")
    if command.out is not None and len(finished) > 1:
        raise BadInput(f"--out holds the scores of one policy, but {len(finished)} were given")
    if _evaluated_otherwise(finished, command):
        return 0
    refused = {}
    for path in finished:
        try:
            _show(console, path, _evaluate_one(path, command), load_policy(path).experiment)
        except BadInput as error:
            if len(finished) == 1:
                raise
            refused[path] = str(error)
    for path, sentence in refused.items():
        print(f"pc3d: not scored: {printable(f'{path}: {sentence}')}", file=sys.stderr)
    return BadInput.exit_code if refused else 0


def _evaluated_otherwise(paths: list[Path], command: Command) -> bool:
    """Whether something else was asked for than scores by team size; then it is done."""
    settings, sizes = command.settings, command.team_sizes
    if command.teacher:
        _refuse_beside_teacher(command)
        show_retention(paths, settings, sizes, command.task, command.hosting)
    elif command.links_dropped is not None:
        check_by_itself("--links-dropped", settings, command.roster, command.mix, *_of_coach(command))
        for path in paths:
            evaluate_lost_links(path, _target(path, command), command.links_dropped, settings, sizes)
    elif any(option is not None for option in _of_coach(command)):
        check_by_itself("--coach-every", settings, command.roster, command.mix)
        for path in paths:
            evaluate_intervals(path, _target(path, command), _of_coach(command), settings, sizes)
    elif command.mix is not None:
        check_alone(settings, command.roster)
        for path in paths:
            evaluate_mixes(path, _target(path, command), command.mix, settings, sizes)
    elif command.roster is not None:
        _evaluate_changing(paths, command, command.roster)
    else:
        return False
    return True


def _of_coach(command: Command) -> tuple[str | None, str | None]:
    return command.coach_every, command.coach_thrift


def _refuse_beside_teacher(command: Command) -> None:
    others = (command.roster, command.mix, command.links_dropped, command.respawn, command.horizon)
    if command.replace or any(other is not None for other in (*others, *_of_coach(command), command.out)):
        raise BadInput("--teacher goes with --team-sizes and --rollouts alone")


def _show(console: Console, name: object, rows: list[ScoreRow], experiment: Experiment) -> None:
    """The name unbroken in a line of its own, however long it is; after the returns, what they need."""
    console.print(str(name), soft_wrap=True, highlight=False)
    large = HINDERED in rows[0].measures  # returns of large teams have no common scale
    heard = messages_of(rows)
    columns = {"return": returns_of(rows), **({"messages per agent and step": heard} if heard else {})}
    console.print(returns_table(columns, experiment.rosters, splits=not large))
    if large:
        largest = max(experiment.rosters.train)
        told = f"{largest} agents are the largest training size, in the same world: to compare with"
        console.print(told, soft_wrap=True, highlight=False)
    needed = needs_of(experiment.method, experiment.messages)
    console.print(f"needs at execution: {needed}", soft_wrap=True, highlight=False)


def find_policies(paths: tuple[Path, ...]) -> tuple[list[Path], list[Path]]:
    """The finished runs and policy files under the paths, and the runs that are not finished."""
    if not paths:
        raise BadInput(
            "name at least one run folder, folder of runs or policy file, or use --references TASK"
        )
    finished: list[Path] = []
    unfinished: list[Path] = []
    for path in map(found, paths):
        if path.is_file():
            finished.append(path)
            continue
        below = sorted(file.parent for file in path.rglob("experiment.json"))
        folders = [folder for folder in below if folder == path or not is_kept(folder)]
        if not folders:
            raise BadInput(f"{path} holds no run: there is no experiment.json in it or below it")
        for folder in folders:
            (finished if RunFolder(folder).done else unfinished).append(folder)
    return finished, unfinished


def _evaluate_changing(paths: list[Path], command: Command, roster: str) -> None:
    given = {"horizon": command.horizon, "respawn": command.respawn}
    rules = {name: value for name, value in given.items() if value is not None}
    changes = rosters_asked_for(roster, command.settings, command.reference_rollouts)
    for path in paths:
        for changing in changes:
            target, alone = _target(path, command), len(changes) == 1
            evaluate_one(path, target, changing, command.settings, command.team_sizes, rules, alone=alone)


def _target(path: Path, command: Command) -> Path:
    target = command.out or (path if path.is_dir() else None)
    if target is None:
        raise BadInput(f"{path} is a file outside a run: say with --out where its scores should go")
    return target


def _evaluate_one(path: Path, command: Command) -> list[ScoreRow]:
    policy, target = load_policy(path), _target(path, command)
    settings, rosters = command.settings, policy.experiment.rosters
    game = policy.task if settings.world is None else in_world(policy.task, settings.world)
    sizes = _sizes(game, rosters, command)
    if not command.replace:
        scores_file, _ = file_names(settings.suffix)
        _keep_fuller_scores(target / scores_file, sizes, settings.rollouts)
    if policy.experiment.mixes and settings.looks_inside:  # before the scores, which come last
        evaluate_mixes(path, target, ALL, settings, command.team_sizes)
    with (
        open_arena(policy.experiment, command.task, command.hosting, original=settings.original) as arena,
        counted(str(path), parts(len(sizes), settings)) as advance,
    ):
        place = arena if settings.world is None else CompiledArena(game)
        return evaluate(policy, place, target, sizes, settings, advance)


def _sizes(game: Game, rosters: Rosters, command: Command) -> tuple[int, ...]:
    """Those named, or the usual ones; beside large teams also what they are compared with."""
    if command.settings.world is None:
        return team_sizes_for(game, command.team_sizes, rosters.all)
    assert isinstance(game, Task)
    usual = tuple(size for size in LARGE_TEAMS if size <= game.most_agents)
    named = team_sizes_for(game, command.team_sizes, usual)
    return tuple(sorted({max(rosters.train), *named}))


def _keep_fuller_scores(file: Path, sizes: tuple[int, ...], rollouts: int) -> None:
    """Refuse to lose what was scored before; a file that cannot be read holds nothing to lose."""
    try:
        before = read_scores(file) if file.exists() else []
    except BadInput:
        return
    for scores in before:
        most = max(map(len, scores.returns.values()))
        lost = sorted(set(scores.returns) - set(sizes))
        if lost or most > rollouts:
            raise BadInput(
                f"{file} holds team sizes {', '.join(map(str, scores.returns))} with {most} rollouts each, "
                "more than this would put in its place: give --out DIR for the new scores, or --replace"
            )


def _run_references(command: Command, task_name: str) -> int:
    if command.runs:
        raise BadInput("references are scored by themselves: give either runs or --references TASK")
    if command.roster is not None:
        raise BadInput("--roster plays references beside a policy: name a run instead of --references")
    if command.links_dropped is not None:
        raise BadInput("--links-dropped is for policies that send messages: name a run, not --references")
    if any(option is not None for option in _of_coach(command)):
        raise BadInput("--coach-every and --coach-thrift are for policies with a coach: name a run")
    if command.mix is not None:
        raise BadInput("--mix is for policies: name a run instead of --references")
    if command.teacher:
        raise BadInput("--teacher is for policies: name a run instead of --references")
    if command.out is None:
        raise BadInput("say with --out where references.csv should go")
    with _reference_arena(command, task_name) as (arena, rosters):
        game = arena.game
        sizes = _sizes(game, rosters, command)
        with counted(f"references of {task_name}", len(reference_teams(game)) * len(sizes)) as advance:
            settings, out = command.settings, command.out
            rows = evaluate_references(arena, task_name, rosters, sizes, settings, out, advance)
    names = dict.fromkeys(row.method for row in rows)
    by_name = {name: returns_of([row for row in rows if row.method == name]) for name in names}
    large = HINDERED in rows[0].measures
    Terminal().print(returns_table(by_name, rosters, splits=not large))
    return 0


@contextmanager
def _reference_arena(command: Command, name: str) -> Iterator[tuple[Arena, Rosters]]:
    """Where references play, and with which team sizes."""
    if not is_import_path(name):
        entry = entry_of(name)
        _refuse_sizes(command, f"{name} has its own")
        world = command.settings.world or "crowded"
        yield CompiledArena(entry.make(entry.task_class.largest_team, world=world)), paper_of(name).rosters
        return
    rosters, curriculum = rosters_from_words(command.rosters, command.sizes, None)
    if command.settings.world is not None:
        raise BadInput("only the tasks that come with pc3d have references for large teams")
    usual = custom(name, "mappo", rosters, curriculum)
    experiment = with_world(usual, command.horizon, command.hosting)
    with open_arena(experiment, name, command.hosting, original=False) as arena:
        yield arena, rosters


def _refuse_sizes(command: Command, whose: str) -> None:
    if command.rosters is not None or any(command.sizes):
        raise BadInput(
            f"--rosters, --train-sizes and their like are for the references of an own task: {whose} team "
            "sizes, and --team-sizes names some of them"
        )
