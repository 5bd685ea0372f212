"""`pc3d watch RUN --team-size N`: one episode of a policy, as a film or as a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.progress import track

from pc3d.cli.display import Terminal
from pc3d.cli.extensions import admit_method
from pc3d.cli.in_help import File, Mix, NameOrFile, OwnCode
from pc3d.cli.own_task import admit_named
from pc3d.evaluation.film import FILM_FORMATS, Picture, frames, frames_per_second, with_caption
from pc3d.evaluation.recording import Recording, record
from pc3d.evaluation.replay import has_replays, replay
from pc3d.experiment.mixes import Cast
from pc3d.experiment.named_rosters import roster_named
from pc3d.experiment.roster_check import checked_limits
from pc3d.play.arena import Arena, CompiledArena, HostedArena, wide_for
from pc3d.play.hosted.crew import DEFAULT_HOSTING, Hosting
from pc3d.play.opening import open_arena
from pc3d.play.starts import rollout_keys
from pc3d.runs.policy import Policy, load_policy
from pc3d.runs.shipped import found
from pc3d.system.errors import BadInput, Pc3dError
from pc3d.system.files import explained, write_atomically
from pc3d.system.imports import OWN_ERRORS, described, folder_name, is_import_path
from pc3d.system.plain import amount
from pc3d.tasks.make import in_world, playable
from pc3d.tasks.named_mixes import mixes_to_play
from pc3d.tasks.registry import TASKS
from pc3d.tasks.task import AnyTask, World

SMALLEST_PICTURE, LARGEST_PICTURE = 64, 4096


@dataclass(frozen=True)
class Command:
    run: tyro.conf.Positional[Path]
    """A run folder, a policy file, or the name of a policy that comes with pc3d, such as lbf/pc3d."""
    team_size: int
    """How many agents play."""
    world: World = "crowded"
    """The task's own world, or one that grows with the team."""
    roster: NameOrFile = None
    """Let the team change while it plays: lose-half, churn, ... (docs/changing_teams.md), or a file."""
    mix: Mix = None
    """Let unlike agents play: a mix of the run or its task, or runner=2,hauler=1 (docs/unlike_agents.md)."""
    rollout: int = 0
    """Which of the starts that evaluation uses."""
    actions: Literal["sampled", "greedy"] = "sampled"
    """As in training, or always the likeliest."""
    out: File = None
    """A .gif, .mp4 or .html file; TASK-METHOD-SIZE.gif if not given."""
    size: int = 480
    """Pixels along the longer side of a picture; own tasks draw themselves."""
    show_range: bool = False
    """Draw what each agent can see."""
    task: OwnCode = None
    """The own task this run was trained on, named again: no file makes us run its code."""
    method: OwnCode = None
    """The own method it was trained with, named again, for the same reason."""
    hosting: Annotated[Hosting, tyro.conf.arg(name="")] = DEFAULT_HOSTING


def run(command: Command) -> int:
    admit_named(command.task)
    admit_method(command.method)
    policy = load_policy(found(command.run))
    if command.world != "crowded":
        policy = replace(policy, task=in_world(policy.task, command.world))
    if command.mix is not None:
        policy = replace(policy, task=_with_mix(policy, command.mix))
    experiment = policy.experiment
    out = command.out or Path(
        f"{folder_name(experiment.task)}-{folder_name(experiment.method)}-{command.team_size}.gif"
    )
    if out.suffix not in (*FILM_FORMATS, ".html"):
        raise BadInput(f"a film is a .gif, .mp4 or .html file, not {out.name}")
    if not SMALLEST_PICTURE <= command.size <= LARGEST_PICTURE:
        raise BadInput(
            f"a picture is {SMALLEST_PICTURE} to {LARGEST_PICTURE} pixels wide, not {command.size}"
        )
    experiment.rosters.refuse_sealed((command.team_size,))
    with open_arena(experiment, command.task, command.hosting, original=False) as arena:
        usual = command.world == "crowded" and command.mix is None
        place = arena if usual else CompiledArena(policy.task)
        episode, pictures = _play(policy, command, place)
    with explained(f"writing {out}"):
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.suffix == ".html":
            _write_page(out, policy, episode, command.rollout)
        else:
            _write_film(out, policy, episode, pictures, command)
    print(
        f"{experiment.task} {experiment.method} seed {experiment.seed}, "
        f"{amount(command.team_size, 'agent')}: "
        f"return {float(episode.returns):.4f}\nwrote {out}"
    )
    return 0


def _with_mix(policy: Policy, text: str) -> AnyTask:
    """The policy's task, played by the one mix that is named."""
    mixes = mixes_to_play(text, policy.experiment)
    if len(mixes) > 1:
        raise BadInput(f"a film shows one mix: name one of {', '.join(mix.name for mix in mixes)}")
    return playable(policy.task).with_cast(Cast(mixes, policy.experiment.mixes.seen))


def _play(policy: Policy, command: Command, arena: Arena) -> tuple[Recording, list[Picture]]:
    """The episode, and its pictures if they are taken as it is played."""
    size, pictures = command.team_size, list[Picture]()
    if isinstance(arena, HostedArena):  # worlds on the host draw themselves
        arena = replace(arena, film=pictures)
    greedy, place = command.actions == "greedy", _place(policy, command, arena)
    keys = rollout_keys(size, 1, first=command.rollout)  # the task has said which sizes it can be played with
    return record(place, policy.networks, keys, size, greedy=greedy).one(0), pictures


def _place(policy: Policy, command: Command, arena: Arena) -> Arena:
    """The arena, as wide as the team may grow."""
    if command.roster is None:
        return wide_for(arena, command.team_size)
    if command.world != "crowded":
        raise BadInput("teams change in worlds of the usual size: give either --roster or --world")
    roster, game = roster_named(command.roster), arena.game
    limits = checked_limits(
        roster, policy.experiment.rosters, command.team_size, game.fewest_present, game.horizon
    )
    return arena.with_roster(roster).with_slots(limits.slots)


def _write_film(
    out: Path, policy: Policy, episode: Recording, pictures: list[Picture], command: Command
) -> None:
    steps = len(episode.rewards)
    drawn: Iterator[Picture]
    if pictures:
        drawn = (
            with_caption(policy.task, picture, episode, moment) for moment, picture in enumerate(pictures)
        )
    else:
        task = playable(policy.task.with_slots(command.team_size))
        drawn = frames(task, episode, size=command.size, show_range=command.show_range)
    console = Terminal(stderr=True)
    quiet = not console.is_terminal  # or a log file would get an empty line
    with _told_what_own_code_raises(policy.task.name):
        shown = list(track(drawn, "drawing", steps + 1, console=console, transient=True, disable=quiet))
    FILM_FORMATS[out.suffix](out, shown, frames_per_second(steps))


@contextmanager
def _told_what_own_code_raises(task: str) -> Iterator[None]:
    try:
        yield
    except Pc3dError:
        raise
    except NotImplementedError as error:
        raise BadInput(f"{task} cannot be filmed: {str(error) or 'it has no draw method'}") from None
    except OWN_ERRORS as error:
        if not is_import_path(task):
            raise
        raise BadInput(f"{task} cannot be filmed: draw raised {described(error)}") from None


def _write_page(out: Path, policy: Policy, episode: Recording, rollout: int) -> None:
    from pc3d.report.page.page import replay_page

    if not has_replays(policy.experiment.task):
        shown = ", ".join(filter(has_replays, TASKS))
        raise BadInput(f"pages show {shown} only: film {policy.experiment.task} as a .gif or .mp4")
    write_atomically(out, replay_page([replay(policy, episode, rollout)]).encode())
