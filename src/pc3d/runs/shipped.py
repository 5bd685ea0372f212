"""Policies by names such as rware/pc3d: those that come with pc3d, and those of a folder of your own."""

import os
from pathlib import Path

from pc3d.system.errors import refuse_unknown

PACKAGE = Path(__file__).parents[1]
# In an installed package, and in a checkout, where they lie among the recorded runs.
PLACES = (PACKAGE / "policies", PACKAGE.parents[1] / "results")
FILE = "seed-0/final.safetensors"
NAME_PARTS = 2  # task and method
OWN_PLACE = "PC3D_POLICIES"  # in the environment: a folder as pc3d record writes it


def shipped_policies() -> dict[str, Path]:
    """By task and method."""
    own = os.environ.get(OWN_PLACE)
    places = PLACES if not own else (*PLACES, Path(own))  # of two with one name, the later one counts
    found = (path for place in places for path in sorted(place.glob(f"*/*/{FILE}")))
    return {"/".join(path.parts[-4:-2]): path for path in found}


def found(policy: Path | str) -> Path:
    """A path as it is; if there is nothing, a policy that is shipped under that name."""
    if Path(policy).exists():
        return Path(policy)
    shipped, path = shipped_policies(), Path(policy)
    if path.is_absolute() or path.suffix or len(path.parts) != NAME_PARTS:
        return path  # whoever reads it says what is wrong
    refuse_unknown("policy, neither a path nor shipped,", path.as_posix(), shipped)
    return shipped[path.as_posix()]
