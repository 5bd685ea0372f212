"""evaluation.json: by which rules a policy was scored, and digests of all that the scoring left."""

from pathlib import Path
from typing import Any

from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.files import check_digests, digest_of, digests_in

NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "team_sizes", "rollouts"),
    *("actions", "backend", "world", "context_rollouts", "starts_seed", "digests"),
)
ON_ORIGINALS = "-original"
LOOKS_INSIDE = ("context.json", "replays/size-*.json")


def suffix_of(backend: str, world: str | None) -> str:
    """What the names of files have that hold scores alone: on the original packages, or of large teams."""
    return f"-{world}" if world else ON_ORIGINALS if backend == "original" else ""


def file_names(suffix: str = "") -> tuple[str, str]:
    """Of the scores, and of the rules by which they came about."""
    return f"scores{suffix}.csv", f"evaluation{suffix}.json"


def write_evaluation(folder: Path, about: dict[str, Any], scores: bytes) -> None:
    """Write the rules, and the digests of contexts, replays and of the scores that come after."""
    suffix = suffix_of(about["backend"], about.get("world"))
    scores_file, rules_file = file_names(suffix)
    digests = {} if suffix else digests_in(folder, LOOKS_INSIDE)
    digests[scores_file] = digest_of(scores)
    write_checked(folder / rules_file, {**about, "digests": digests})


def read_evaluation(folder: Path, suffix: str = "") -> dict[str, Any]:
    """The rules, if what was scored by them is still what it was; empty where they are not written down."""
    scores_file, rules_file = file_names(suffix)
    if not (folder / rules_file).exists():
        return {}
    content = read_checked(folder / rules_file, NAMES)
    if "digests" in content:  # the first versions had none
        check_digests(folder, (scores_file, *(() if suffix else LOOKS_INSIDE)), content["digests"])
    return content
