"""`pc3d demo`: a random team in every task, in numbers and in a picture."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from PIL import Image
from rich.console import Console
from rich.table import Table

from pc3d.benchmark.random_play import play_at_random
from pc3d.errors import BadInput
from pc3d.experiments import ROSTERS
from pc3d.tasks import TASKS
from pc3d.tasks.task import AnyTask

HEIGHT = 480
GAP = 24
WHITE = 255
STEPS_BEFORE_PICTURE = 10


@dataclass(frozen=True)
class Command:
    folder: Path = Path("demo")
    """Where the picture goes."""
    episodes: int = 100
    """Episodes for each team size."""
    seed: int = 0
    """Which random starts and actions."""


def run(command: Command) -> int:
    if command.episodes < 1:
        raise BadInput(f"at least 1 episode is needed, not {command.episodes}")
    console = Console()
    key = jax.random.key(command.seed)
    for name, task in TASKS.items():
        console.print(_returns(name, task(slots=task.largest_team), key, command.episodes))
    picture = command.folder / "tasks.png"
    command.folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(_strip(key)).save(picture)
    console.print(f"wrote {picture}")
    return 0


def _returns(name: str, task: AnyTask, key: PRNGKeyArray, episodes: int) -> Table:
    """One program for all team sizes: the team's size is data."""
    table = Table("agents", "split", title=f"{name}: mean return of a random team", title_justify="left")
    table.add_column("return", justify="right")
    play = jax.jit(partial(_mean_return, task, jax.random.split(key, episodes)))
    for size in ROSTERS[name].all:
        table.add_row(str(size), ROSTERS[name].split_of(size), f"{float(play(size)):.3f}")
    return table


def _mean_return(task: AnyTask, keys: PRNGKeyArray, team_size: Int[Array, ""]) -> Float[Array, ""]:
    totals = jax.vmap(lambda key: play_at_random(task, key, team_size).total_reward)(keys)
    return jnp.mean(jax.vmap(lambda total: task.reported_return(total, team_size))(totals))


def _strip(key: PRNGKeyArray) -> np.ndarray:
    """All tasks side by side, equally tall."""
    pictures = []
    for name, task in TASKS.items():
        game = task(slots=ROSTERS[name].all[len(ROSTERS[name].all) // 2])
        state = jax.jit(partial(play_at_random, game, team_size=game.slots, steps=STEPS_BEFORE_PICTURE))(
            key
        ).state
        height, width, _ = game.draw(state, size=HEIGHT).shape
        picture = game.draw(state, size=round(HEIGHT * max(height, width) / height))[:HEIGHT]
        pictures += [picture, np.full((len(picture), GAP, 3), WHITE, np.uint8)]
    height = min(len(picture) for picture in pictures)
    return np.concatenate([picture[:height] for picture in pictures[:-1]], axis=1)
