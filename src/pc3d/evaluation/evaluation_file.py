"""evaluation.json: by which rules a policy was scored, and digests of all that the scoring left."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pc3d.runs.done_file import read_done
from pc3d.system.checked_json import read_checked, write_checked
from pc3d.system.errors import DamagedFile
from pc3d.system.files import check_digests, digest_of, digests_in

NAMES = (
    *("format", "task", "method", "seed", "policy_sha256", "return_definition", "team_sizes", "rollouts"),
    *("actions", "backend", "world", "context_rollouts", "starts_seed", "digests"),
)
ON_ORIGINALS = "-original"
LINKS_DROPPED, COACH_EVERY = "--links-dropped", "--coach-every"
FILES_OF_LESS_SAID = {LINKS_DROPPED: "links.json", COACH_EVERY: "coach.json"}  # by what asks for them
FILES_OF_ROSTERS = "roster-*.json"
LOOKS_INSIDE = ("context.json", "replays/size-*.json")
_OURS = re.compile(r"scores[-a-z]*\.csv|context\.json|replays/size-\d+\.json")


def suffix_of(backend: str, world: str | None) -> str:
    """What the names of files have that hold scores alone: on the original packages, or of large teams."""
    return f"-{world}" if world else ON_ORIGINALS if backend == "original" else ""


def file_names(suffix: str = "") -> tuple[str, str]:
    """Of the scores, and of the rules by which they came about."""
    return f"scores{suffix}.csv", f"evaluation{suffix}.json"


def file_of_roster(label: str) -> str:
    """Of what came of teams that changed by this process."""
    return FILES_OF_ROSTERS.replace("*", label)


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
    finished, scored = read_done(folder), (folder / scores_file).exists()
    if not (folder / rules_file).exists():
        if scored and finished and not finished.of_first_versions:
            raise DamagedFile(
                f"{folder / rules_file} is missing, which says by which rules {scores_file} came about: "
                f"take it from a backup, or remove {scores_file} and evaluate again"
            )
        return {}
    content = read_checked(folder / rules_file, NAMES)
    if "digests" in content:  # the first versions had none
        patterns = (scores_file, *(() if suffix else LOOKS_INSIDE))
        # Scores come last: where there are none yet, an evaluation was interrupted, and nothing is promised.
        needed = _named(content["digests"], folder / rules_file) if scored else ()
        # A record may have left all of its replays behind; where some are, none may be missing.
        replays_left = finished is not None and finished.recorded and not (folder / "replays").exists()
        kept = [name for name in needed if not (replays_left and name.startswith("replays/"))]
        check_digests(folder, patterns, content["digests"], kept)
    return content


def _named(digests: Any, path: Path) -> Iterable[str]:
    if not isinstance(digests, dict) or not all(map(_OURS.fullmatch, digests)):
        raise DamagedFile(f"{path} is damaged: it does not name what was scored by it")
    return digests
