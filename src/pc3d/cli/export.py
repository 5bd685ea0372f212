"""`pc3d export RUN policy.onnx`: one agent's policy as a file that needs neither JAX nor this package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro
from rich.table import Table

from pc3d.cli.display import Terminal, counted, table
from pc3d.cli.extensions import admit_method
from pc3d.cli.in_help import OwnCode, Sizes
from pc3d.cli.team_sizes import team_sizes_for
from pc3d.export.description import describe
from pc3d.export.plain_actor import PlainActor, plain_actor
from pc3d.runs.checkpoint import to_bytes
from pc3d.runs.policy import Policy, load_policy
from pc3d.runs.shipped import found
from pc3d.system.errors import BadInput
from pc3d.system.files import explained, write_atomically
from pc3d.system.plain import amount
from pc3d.tasks.task import Task

if TYPE_CHECKING:
    from pc3d.export.int8_loss import SplitLoss

FORMATS = (".onnx", ".safetensors")
FEWEST_ROLLOUTS = 2  # one has no standard error


@dataclass(frozen=True)
class Command:
    run: tyro.conf.Positional[Path]
    """A run folder, a policy file, or the name of a policy that comes with pc3d, such as lbf/pc3d."""
    out: tyro.conf.Positional[Path]
    """The file to write: .onnx for onnxruntime, .safetensors for the weights alone."""
    int8: bool = False
    """Store matrices in eight bits; what that costs is measured before anything is written."""
    rollouts: int = 100
    """Rollouts per team size for that measurement."""
    team_sizes: Sizes = None
    """Sizes for that measurement, such as 1-4,8. Training and validation sizes if not given."""
    largest_loss: float = 0.02
    """How much of the float32 return the int8 policy may lose in any split, as a share of it."""
    accept_loss: bool = False
    """Write the int8 file whatever it loses."""
    force: bool = False
    """Replace the file if it is there."""
    method: OwnCode = None
    """The own method it was trained with, named again: no file makes us run its code."""


def run(command: Command) -> int:
    _check(command)
    admit_method(command.method)
    policy = load_policy(found(command.run))
    if command.out.exists() and command.out.samefile(policy.path):
        raise BadInput(f"{command.out} is the policy itself: name another file")
    actor = plain_actor(policy.actor, masked=policy.task.action_space.masked)
    if command.int8 and actor.network.rounds:
        raise BadInput("--int8 is for agents that act alone: this policy's send each other messages")
    content = _content(command, policy, actor)
    with explained(f"writing {command.out}"):
        command.out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(command.out, content)
    numbers = f"{amount(actor.action_count, 'number')} in an action"
    acts = amount(actor.action_count, "action") if actor.network.box is None else numbers
    print(
        f"{policy.experiment.task} {policy.experiment.method} seed {policy.experiment.seed}: "
        f"{amount(actor.observation_width, 'number')} seen, {actor.memory_width:,} remembered, {acts}\n"
        f"wrote {command.out} ({len(content) / 1024:.0f} KiB)"
    )
    return 0


def _check(command: Command) -> None:
    """Refuse before any work is done."""
    if command.out.suffix not in FORMATS:
        raise BadInput(f"an exported policy is a .onnx or .safetensors file, not {command.out.name}")
    if command.int8 and command.out.suffix != ".onnx":
        raise BadInput("--int8 is for .onnx files: a .safetensors file holds the weights as they are")
    if not 0 <= command.largest_loss <= 1:
        raise BadInput(f"--largest-loss is a share from 0 to 1, not {command.largest_loss:g}")
    if command.rollouts < FEWEST_ROLLOUTS:
        raise BadInput(f"measuring int8 takes at least {FEWEST_ROLLOUTS} rollouts, not {command.rollouts}")
    if command.out.is_dir():
        raise BadInput(f"{command.out} is a folder: name a file")
    if command.out.exists() and not command.force:
        raise BadInput(f"{command.out} is already there: name another file, or replace it with --force")


def _content(command: Command, policy: Policy, actor: PlainActor) -> bytes:
    description = describe(policy, actor)
    if command.out.suffix == ".safetensors":
        return to_bytes(actor.weights, description)
    from pc3d.export.graph import onnx_model

    float32 = onnx_model(actor, description)
    if not command.int8:
        return float32
    loss = _int8_loss(command, policy, (float32, onnx_model(actor, description, int8=True)))
    return onnx_model(actor, description | {"precision": "int8", "int8": loss}, int8=True)


def _int8_loss(command: Command, policy: Policy, models: tuple[bytes, bytes]) -> dict[str, Any]:
    """What the int8 model will say of its loss, or a refusal if it lost too much."""
    from pc3d.export.int8_loss import as_metadata, losses_by_split, play_both

    task, rosters = policy.task, policy.experiment.rosters
    if not isinstance(task, Task):
        raise BadInput(
            f"--int8 must be measured in play, and {task.name} is not part of pc3d: export float32"
        )
    sizes = team_sizes_for(task, command.team_sizes, rosters.train_and_validation)
    rosters.refuse_sealed(sizes)
    with counted("playing float32 and int8", len(sizes)) as advance:
        played = play_both(task, rosters, models, sizes, command.rollouts, advance)
    losses = losses_by_split(played)
    Terminal().print(_table(losses, command.rollouts))
    worst = max(losses, key=lambda loss: loss.share)
    if worst.share > command.largest_loss and not command.accept_loss:
        raise BadInput(
            f"int8 loses {worst.share:.1%} of the {worst.split} return, more than "
            f"{command.largest_loss:.1%}: export float32, or write it all the same with --accept-loss"
        )
    return as_metadata(played, losses, command.largest_loss)


def _table(losses: list[SplitLoss], rollouts: int) -> Table:
    rows = (
        (
            f"{loss.split} ({', '.join(map(str, loss.team_sizes))})",
            f"{loss.float32:.4f}",
            f"{loss.int8:.4f}",
            f"{loss.loss:.4f} ± {loss.standard_error:.4f}",
            f"{loss.share:.2%}",
        )
        for loss in losses
    )
    title = f"Mean return, {rollouts} rollouts per team size, the same starts and draws for both"
    return table(title, ("split", "float32", "int8", "lost", "share"), rows, words=1)
