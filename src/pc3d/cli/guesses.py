"""What people write who know other programs, and what it is called here."""

from pc3d.experiment.methods import METHODS
from pc3d.system.errors import BadInput
from pc3d.system.imports import is_import_path
from pc3d.tasks.registry import TASKS

MEANT = {
    **dict.fromkeys(("--lr", "--learning-rate", "--rate"), "--ppo.learning-rate"),
    **dict.fromkeys(("--gamma", "--discount"), "--ppo.discount"),
    **dict.fromkeys(("--lambda", "--gae-lambda"), "--ppo.gae-lambda"),
    **dict.fromkeys(("--entropy", "--ent-coef", "--entropy-coefficient"), "--ppo.entropy-coefficient"),
    **dict.fromkeys(("--epochs", "--ppo-epochs", "--update-epochs"), "--ppo.epochs"),
    **dict.fromkeys(("--clip", "--clip-coef", "--clip-range"), "--ppo.clip"),
    **dict.fromkeys(("--batch-size", "--batch"), "--ppo.batch-size"),
    **dict.fromkeys(("--num-envs", "--n-envs", "--envs", "--environments"), "--recipe.environments"),
    **dict.fromkeys(("--hidden", "--hidden-size", "--hidden-dim", "--widths"), "--actor.widths"),
    **dict.fromkeys(("--num-episodes", "--total-episodes", "--steps", "--timesteps"), "--episodes"),
    **dict.fromkeys(("--total-timesteps", "--updates", "--iterations"), "--episodes"),
    **dict.fromkeys(("--out", "--output", "--out-dir", "--save-dir", "--logdir", "--dir"), "--folder"),
    **dict.fromkeys(("--sizes", "--team-sizes", "--team-size", "--agents", "--num-agents"), "--train-sizes"),
    **dict.fromkeys(("--config", "--settings"), "--preset"),
}


def refuse_guesses(words: list[str]) -> None:
    """Answer a common guess at an option of `pc3d train` with the option's name."""
    for word in words:
        name = word.partition("=")[0].replace("_", "-")
        if name in MEANT:
            raise BadInput(f"there is no {name}: here it is called {MEANT[name]}")


def refuse_swapped(command: str, task: str, method: str) -> None:
    """Answer a task and a method in the wrong order."""
    if task in METHODS and (method in TASKS or is_import_path(method)):
        raise BadInput(f"{task} is a method: write pc3d {command} {method} {task}")
