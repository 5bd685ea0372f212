"""Policies that come with pc3d, by names such as rware/pc3d."""

from pathlib import Path

from pc3d.system.errors import refuse_unknown

PACKAGE = Path(__file__).parents[1]
# In an installed package, and in a checkout, where they lie among the recorded runs.
PLACES = (PACKAGE / "policies", PACKAGE.parents[1] / "results")
FILE = "seed-0/final.safetensors"


def shipped_policies() -> dict[str, Path]:
    """By task and method."""
    found = (path for place in PLACES for path in sorted(place.glob(f"*/*/{FILE}")))
    return {"/".join(path.parts[-4:-2]): path for path in found}


def found(policy: Path | str) -> Path:
    """A path as it is; if there is nothing, a policy that is shipped under that name."""
    if Path(policy).exists():
        return Path(policy)
    shipped = shipped_policies()
    name = Path(policy).as_posix()
    refuse_unknown("policy, neither a path nor shipped,", name, shipped)
    return shipped[name]
