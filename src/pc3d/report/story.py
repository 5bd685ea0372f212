"""What the runs say in a few sentences: what was played, by whom, who leads at new sizes, how sure it is.

Every number comes with its interval and its seeds; where nothing can be said, that is said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pc3d.experiment.execution import ALONE
from pc3d.experiment.methods import METHODS, OURS
from pc3d.report.beside_random import BesideRandom, beside_random
from pc3d.report.names import SPLITS, WORDS, method_title, methods_in_order, task_title
from pc3d.report.prose import SIZES, decimal, listed, number, number_of_seeds, on_tasks
from pc3d.report.runs import Runs
from pc3d.report.statistics import Spread, difference, paired_difference
from pc3d.report.tables.results import spread_of_sizes
from pc3d.report.tables.statistics import on_common_scale
from pc3d.tasks.registry import TASKS

BACKBONE = "mappo"  # what PC3D is built on
TASKS_TOLD = 3  # one by one; the tables have all of them
RUNS_NAMED = 3  # that say nothing; more are counted
METHODS_NAMED = 3  # more are counted
METHODS_TOLD_OF = 4  # in a sentence each
NOTHING_YET = "No run is finished and scored at every team size of its task yet, so there is nothing to tell."
ONLY_TRIALS = "These runs tried settings out and never saw a test size; what each gave stands below."
QUESTION = "Who still cooperates when the size of the team is new?"
IN_SHORT = "In short"
BY_ITSELF = "No agent gets messages or orders: each acts on what it has seen itself."


@dataclass(frozen=True)
class Point:
    """A few sentences, in lines, and a word or two that say what they are about."""

    label: str
    text: str
    note: str = ""
    """In small print."""
    beside: bool = False
    """Whether it stands side by side with others of its kind."""

    @property
    def whole(self) -> str:
        return f"{self.text} {self.note}".strip()


def question(runs: Runs) -> str:
    """What the story answers."""
    told = _told(runs)
    return QUESTION if any(one.unseen for one in told) else IN_SHORT


def story(runs: Runs) -> list[Point]:
    """What was played, by whom, what counts and what came out; or that there is nothing to tell."""
    told = _told(runs)
    if not told:
        nothing = [NOTHING_YET, *_troubles(runs)] if runs.all or not runs.trials else [ONLY_TRIALS]
        return [Point("Nothing yet", " ".join(nothing))]
    makers = (_one_game, _players) if len(told) == 1 else (_players, _games)
    points = [point for make in makers for point in make(told)]
    rest = [*_rest(told), *_without_part(runs)]
    return [*points, *_outcome(told), *([Point("Also", " ".join(rest))] if rest else [])]


def _told(runs: Runs) -> list["TaskStory"]:
    return [TaskStory(runs, task) for task in runs.tasks if scored_methods(runs, task)]


def _one_game(told: list["TaskStory"]) -> Iterator[Point]:
    (one,) = told
    game = " ".join(filter(None, (one.about, _by_itself(told))))
    if game:
        yield Point(f"The game: {one.title}", game)


def _games(told: list["TaskStory"]) -> Iterator[Point]:
    """One beside the other: what is played there, and what came out."""
    for one in told[:TASKS_TOLD]:
        yield Point(one.title, f"{one.about}\n{one.lead()}".strip(), one.counts(), beside=True)


def _players(told: list["TaskStory"]) -> Iterator[Point]:
    mentioned = {method for one in told[:TASKS_TOLD] for method in one.mentioned}
    first = [method for method in (BACKBONE, OURS) if method in mentioned]
    order = [*first, *methods_in_order(mentioned - {*first})]
    who = [sentence for method in order[:METHODS_TOLD_OF] for sentence in _who(method)]
    seeds = "A seed is one whole training."
    alone = [_by_itself(told)] if len(told) > 1 else []
    yield Point("The players", " ".join(filter(None, (_what_was_done(told), *who, *alone, seeds))))


def _who(method: str) -> Iterator[str]:
    words = WORDS["methods"].get(method) or (METHODS[method].summary if method in METHODS else None)
    if words is not None:
        yield f"{method_title(method)} is {words}."


def _by_itself(told: list["TaskStory"]) -> str:
    """Said where it is known of all that played."""
    methods = {method for one in told for method in one.methods}
    known = all(method in METHODS and METHODS[method].execution == ALONE for method in methods)
    return BY_ITSELF if known else ""


def _outcome(told: list["TaskStory"]) -> Iterator[Point]:
    new = list(_on_new_sizes(told))
    if len(told) == 1:
        yield Point("The score", told[0].counts())
        yield Point("The outcome", " ".join([told[0].lead(), *new]))
    elif new:
        yield Point("New sizes", " ".join(new))


def scored_methods(runs: Runs, task: str) -> list[str]:
    return [method for method in runs.methods(task) if runs.scored(task, method)]


@dataclass(frozen=True)
class TaskStory:
    """One task's runs, as the sentences look at them."""

    runs: Runs
    name: str

    @property
    def title(self) -> str:
        return task_title(self.name).name

    @property
    def methods(self) -> list[str]:
        return scored_methods(self.runs, self.name)

    @property
    def seeds(self) -> set[int]:
        return {len(self.runs.scored(self.name, method)) for method in self.methods}

    @property
    def last_split(self) -> str:
        """The one that asks most: of the test sizes, if there are any."""
        return [split for split, sizes in self.runs.splits(self.name).items() if sizes][-1]

    @property
    def last_sizes(self) -> tuple[int, ...]:
        return self.runs.sizes(self.name, self.last_split)

    @property
    def unseen(self) -> tuple[int, ...]:
        return tuple(size for split in SPLITS[1:] for size in self.runs.sizes(self.name, split))

    @property
    def main(self) -> str:
        """Whose fate on new sizes is told."""
        return OURS if OURS in self.methods else self.ranked[0]

    @property
    def ranked(self) -> list[str]:
        return sorted(self.methods, key=lambda method: -self.returns(method).mean)

    def returns(self, method: str, sizes: tuple[int, ...] | None = None) -> Spread:
        found = spread_of_sizes(self.runs, self.name, method, sizes or self.last_sizes)
        assert found is not None, "asked only of methods with scores"
        return found

    @property
    def about(self) -> str:
        """What is played; an own task's words are those it had when training began."""
        world = self.runs.of(self.name)[0].experiment.world
        return world.about if world else TASKS[self.name].about if self.name in TASKS else ""

    def counts(self) -> str:
        """What is counted, and which way is better."""
        scale = task_title(self.name).scale
        times = "" if scale == 1 else f" (shown times {scale:g})"
        definition = self.runs.of(self.name)[0].return_definition
        counted = f"What counts is the return{times}, and more is better: {definition}."
        negative = all(self.returns(method).mean < 0 for method in self.methods)
        return f"{counted} It is below zero here, so nearer to zero is better." if negative else counted

    @property
    def rivals(self) -> list[str]:
        """Whom the best one is compared with: PC3D, or if it is that, the next one and the backbone."""
        first, *others = self.ranked
        if first == OURS or OURS not in others:
            return [*others[:1], *(rival for rival in others[1:] if rival == BACKBONE)]
        return [OURS]

    @property
    def mentioned(self) -> set[str]:
        first, *others = self.ranked
        return {first, *self.rivals, *({BACKBONE} & {*others} if self.rivals == [OURS] else ())}

    @property
    def beside_random(self) -> BesideRandom | None:
        """Of the best one, at the last sizes."""
        return beside_random(self.runs, self.name, self.ranked[0], self.last_sizes)

    @property
    def has_scale(self) -> bool:
        """Whether references say what is much."""
        return self.runs.reference_range(self.name) is not None

    def lead(self) -> str:
        """Who is best, after a word on whether that is anything, and beside random play if need be."""
        first, found = self._lead(), self.beside_random
        if found is None:
            return first
        if found.nobody_learned:
            return f"{found.warning(f'on {self.title} with {_agents(self.last_sizes)}')} {first}"
        return first if self.has_scale else f"{first} {found.lead()}"

    def _lead(self) -> str:
        """Who has the best mean at the last sizes, beside the next one, PC3D and its backbone."""
        first, *others = self.ranked
        value = self.returns(first)
        place = f"On {self.title} with {_agents(self.last_sizes)}, {method_title(first)}"
        if not others:
            seeds = "one seed, so no interval" if value.seeds == 1 else number_of_seeds(value.seeds)
            text = f"{decimal(value.mean)} ({_deviation(value)}{seeds})"
            return f"{place} has a mean return of {text}; nothing else is here to compare."
        best = f"{place} has the best mean return, {decimal(value.mean)}"
        if self.rivals != [OURS]:
            return f"{best}: {listed(self._more(first, rival) for rival in self.rivals)}."
        further = first != BACKBONE and BACKBONE in others
        rest = f"; {method_title(OURS)} has {self._more(OURS, BACKBONE)}" if further else ""
        return f"{best}: {self._more(first, OURS)}{rest}."

    def _more(self, first: str, second: str) -> str:
        """By how much the first is ahead, and whether that can be chance."""
        ours, theirs = self.returns(first), self.returns(second)
        found = difference(ours, theirs)
        sign = -1 if found.value < 0 else 1
        ends = sorted(sign * end for end in found.interval or ())
        places = 1 if max(map(abs, (found.value, *ends))) >= 10 else 2
        more = "less" if sign < 0 else "more"
        amount = f"{decimal(abs(found.value), places)} {more} than {method_title(second)}"
        seeds = f"{number_of_seeds(ours.seeds)} each"
        if ours.seeds != theirs.seeds:
            seeds = f"{number(ours.seeds)} and {number_of_seeds(theirs.seeds)}"
        if not ends:
            return f"{amount} ({seeds}: too few to tell from chance)"
        low, high = (decimal(end, places) for end in ends)
        doubt = "" if ends[0] > 0 else "; it may be chance"
        return f"{amount} (95 % interval {low} to {high}, {seeds}{doubt})"


def _what_was_done(told: list[TaskStory]) -> str:
    methods = list(dict.fromkeys(method for one in told for method in one.methods))
    who = listed(map(method_title, methods))
    if len(methods) > METHODS_NAMED:
        who = f"{number(len(methods)).capitalize()} methods"
    seeds = _range(set.union(*(one.seeds for one in told)), each=len(methods) > 1)
    they = "they" if len(methods) > 1 else "it"
    if len(told) > 1:
        return (
            f"{who} learned {on_tasks(one.name for one in told)} in teams of some sizes ({seeds}) and "
            f"then played at all sizes, also at those {they} had never met."
        )
    (one,) = told
    trained = _agents(one.runs.sizes(one.name, SPLITS[0]))
    episodes = " or ".join(one.runs.lengths(one.name))
    learned = f"{who} learned {one.title} in teams of {trained}, for {episodes} episodes ({seeds})"
    if not one.unseen:
        return f"{learned}."
    return (
        f"{learned}; then {they} also played with {_agents(one.unseen, ' and ')}, sizes {they} had never met."
    )


def _rest(told: list[TaskStory]) -> Iterator[str]:
    if rest := told[TASKS_TOLD:]:
        yield f"The tables below also have {on_tasks(one.name for one in rest)}."


def _on_new_sizes(told: list[TaskStory]) -> Iterator[str]:
    """What is lost where no training was, on a common scale: returns of unlike teams cannot be compared."""
    open_teams = [one for one in told if one.unseen]
    scaled = [one for one in open_teams if one.has_scale]
    if scaled:
        mains = {one.main for one in scaled}
        whose = f"{method_title(mains.pop())}'s" if len(mains) == 1 else "the best method's"
        interval = "95 % interval of the change "  # said once
        first, *others = scaled[:TASKS_TOLD]
        changes = listed([_change(first, interval), *(_change(one) for one in others)])
        score = f"{whose} score (0 is random play, 1 the best reference player)"
        yield f"At all sizes never trained with, {score} is {changes}."
    plain = [one for one in open_teams if not one.has_scale][:TASKS_TOLD]
    known = [one for one in plain if one.beside_random is not None]
    unknown = [one for one in plain if one not in known]
    yield from (_plain_change(one) for one in (*known, *unknown))
    if unknown:
        yield "How much of that comes from the team's size alone, only reference players could tell."


def _plain_change(one: TaskStory) -> str:
    """Returns as they are, beside random play's where that is known."""
    places = {"training": one.runs.sizes(one.name, SPLITS[0]), SIZES[one.last_split]: one.last_sizes}
    told = []
    for split, sizes in places.items():
        found = beside_random(one.runs, one.name, one.main, sizes)
        chance = "" if found is None else f" (random play's {decimal(found.random)})"
        told.append(f"{decimal(one.returns(one.main, sizes).mean)}{chance} at {split} sizes")
    return f"On {one.title} {method_title(one.main)}'s mean return is {listed(told)}."


def _change(one: TaskStory, interval: str = "") -> str:
    seen, unseen = (
        on_common_scale(one.runs, one.name, one.main, sizes)
        for sizes in (one.runs.sizes(one.name, SPLITS[0]), one.unseen)
    )
    found = paired_difference(unseen, seen)
    sure = "one seed"
    if found.interval is not None:
        low, high = (decimal(end, 2) for end in found.interval)
        sure = f"{interval}{low} to {high}"
    return f"{decimal(unseen.mean(), 2)} instead of {decimal(seen.mean(), 2)} on {one.title} ({sure})"


def _troubles(runs: Runs) -> Iterator[str]:
    """Why the runs that were given say nothing."""
    troubled = [f"{run.name}: {run.trouble}." for run in runs.all if run.trouble]
    yield from troubled[:RUNS_NAMED]
    if len(troubled) > RUNS_NAMED:
        yield f"So it is with {number(len(troubled) - RUNS_NAMED)} more."


def _without_part(runs: Runs) -> Iterator[str]:
    out = sum(run.trouble is not None for run in runs.given)
    if out:
        verb = "is" if out == 1 else "are"
        count = number(out).capitalize()
        yield f"{count} of the {len(runs.given)} runs {verb} unfinished or not scored, and left out."
    if unlike := len(runs.left_out):
        verb = "run is" if unlike == 1 else "runs are"
        yield (
            f"{number(unlike).capitalize()} {verb} left out, damaged or not to be compared with the others; "
            "the notes under Runs say which and why."
        )


def _range(seeds: set[int], *, each: bool) -> str:
    fewest, most = min(seeds), max(seeds)
    text = f"{f'{number(fewest)} to ' if fewest < most else ''}{number_of_seeds(most)}"
    return f"{text} each" if each else text


def _agents(sizes: Iterable[int], last: str = " or ") -> str:
    texts = [str(size) for size in sorted(sizes)]
    return "1 agent" if texts == ["1"] else f"{listed(texts, last)} agents"


def _deviation(spread: Spread) -> str:
    return "" if spread.deviation is None else f"standard deviation {decimal(spread.deviation)} over "
