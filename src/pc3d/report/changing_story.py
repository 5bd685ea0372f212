"""What is said of teams that change: how PC3D comes through a change beside MAPPO and PIC, pair by pair."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from jaxtyping import Float

from pc3d.evaluation.changing.read import ChangingScores
from pc3d.experiment.methods import OURS
from pc3d.report.changes import Change
from pc3d.report.names import method_title, task_title
from pc3d.report.prose import decimal, listed, number_of_seeds
from pc3d.report.statistics import Estimate, estimate
from pc3d.report.tables.changing_teams import regrets

RIVALS = ("mappo", "pic")
Pairs = list[tuple[Change, Change]]  # ours and theirs, by the same processes


def changing_story(changes: Sequence[Change], task: str) -> Iterator[str]:
    """A sentence or two for each rival that met the same shocks with the same seeds."""
    for rival in RIVALS:
        if pairs := _pairs(changes, rival):
            yield _sentence(pairs, task, rival)


def _pairs(changes: Sequence[Change], rival: str) -> Pairs:
    by_place = {(change.method, change.roster): change for change in changes if change.shocks}
    rosters = [roster for method, roster in by_place if method == OURS and (rival, roster) in by_place]
    pairs = [(by_place[OURS, roster], by_place[rival, roster]) for roster in rosters]
    common = set.intersection(*(set(one.seeds) for pair in pairs for one in pair)) if pairs else set()
    return [(ours.of_seeds(common), theirs.of_seeds(common)) for ours, theirs in pairs] if common else []


def _sentence(pairs: Pairs, task: str, rival: str) -> str:
    rosters = listed(ours.roster for ours, _ in pairs)
    sizes = listed(map(str, sorted({size for ours, _ in pairs for size in ours.sizes})))
    steps, missing = _difference(pairs, _steps_to_recovery), _difference(pairs, regrets)
    assert steps is not None, "every shock has them"
    than = f"than {method_title(rival)}"
    recovery = _told(steps, f"{{}} steps sooner {than}", f"{{}} steps later {than}", 1)
    regret = f", and its regret is {_told(missing, '{} smaller', '{} larger', 2)}" if missing else ""
    place = f"After one change on {task_title(task).name} ({rosters}; teams of {sizes})"
    return f"{place}, {method_title(OURS)} recovers {recovery}{regret}. {_what_pairs_are(pairs, steps)}"


def _difference(
    pairs: Pairs, what: Callable[[ChangingScores], Float[np.ndarray, " rollout"] | None]
) -> Estimate | None:
    """Ours minus theirs, seed by seed or key by key, each the mean over processes and team sizes."""
    found = [(ours.units(what), theirs.units(what)) for ours, theirs in pairs]
    apart = [
        ours[: len(theirs)] - theirs[: len(ours)]
        for ours, theirs in found
        if ours is not None and theirs is not None
    ]
    if not apart or len(apart) < len(pairs):
        return None
    shortest = min(map(len, apart))
    return estimate(np.mean, np.mean([one[:shortest] for one in apart], axis=0))


def _steps_to_recovery(one: ChangingScores) -> Float[np.ndarray, " rollout"] | None:
    """Where none was seen, the steps that were looked at: the same for both of a pair."""
    return one.shock.recovery.steps.astype(float) if one.shock else None


def _told(found: Estimate, less: str, more: str, places: int) -> str:
    """By how much, in words that say in which direction, and whether that can be chance."""
    sign, words = (-1, less) if found.value < 0 else (1, more)
    amount = words.format(decimal(abs(found.value), places))
    if found.interval is None:
        return f"{amount} (a single pair: it may be chance)"
    low, high = sorted(sign * end for end in found.interval)
    doubt = "" if low > 0 else "; it may be chance"
    return f"{amount} (95 % interval {decimal(low, places)} to {decimal(high, places)}{doubt})"


def _what_pairs_are(pairs: Pairs, found: Estimate) -> str:
    pairs_of = (
        number_of_seeds(found.seeds)
        if pairs[0][0].over == "seeds"
        else f"{found.seeds} keys of one seed each, so this tells of two policies and not of two methods"
    )
    return f"Pairs are {pairs_of}; where no recovery is seen, the steps that were looked at count."
