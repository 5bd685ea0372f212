"""The paper's parameter chaining: which methods there are, and whose settings each of them inherits."""

# MAPPO's actor and PPO rows serve PIC and PC3D too; the ablations and Hyper-PC3D take all of PC3D's values.
PARENTS = {
    "ippo": None,
    "mappo": None,
    "pic": "mappo",
    "pc3d": "mappo",
    "gate-off": "pc3d",
    "gate-on": "pc3d",
    "a-mappo": "pc3d",
    "hyper-pc3d": "pc3d",
}
METHOD_NAMES = tuple(PARENTS)
WITHOUT_DISTILLATION = "a-mappo"  # the one heir of PC3D whose distillation weighs nothing


def ancestors(method: str) -> tuple[str, ...]:
    """The methods whose settings this one inherits, the nearest first."""
    parent = PARENTS[method]
    return () if parent is None else (parent, *ancestors(parent))


def family(method: str) -> tuple[str, ...]:
    """The method and all that inherit from it."""
    return tuple(name for name in METHOD_NAMES if name == method or method in ancestors(name))


DISTILLED = tuple(name for name in family("pc3d") if name != WITHOUT_DISTILLATION)
