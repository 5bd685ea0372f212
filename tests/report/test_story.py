"""The sentences a report begins with: other runs, other words, and nothing said that the runs do not tell."""

import pytest

from pc3d.report.figures.style import svg
from pc3d.report.figures.team_sizes import team_size_chart
from pc3d.report.opening import Opening, most_telling
from pc3d.report.runs import find_runs
from pc3d.report.sections import SECTIONS
from pc3d.report.story import NOTHING_YET, story
from pc3d.tasks.registry import paper_of
from tests.report.made_up import make_run, write_references

NOISE = (-0.1, 0.0, 0.1)


@pytest.fixture
def play(tmp_path):
    """Runs whose two rollouts at every size have this mean, one run for each noise."""

    def add(method, level, task="spread", noises=NOISE, **changes):
        for seed, noise in enumerate(noises):
            returns = {
                size: [(level(size) if callable(level) else level) + noise + apart for apart in (-1.0, 1.0)]
                for size in paper_of(task).rosters.all
            }
            make_run(tmp_path, task, method, seed, returns, **changes)
        return lambda: find_runs([tmp_path])

    return add


def test_one_run_is_told_without_a_comparison(play):
    told = story(play("pc3d", lambda size: -float(size), noises=(0.0,), episodes=2000)())
    assert told == [
        "PC3D-MAPPO learned Spread in teams of 1, 2, 4, 6 or 8 agents, for 2,000 episodes (one seed); then "
        "it also played with 3, 5, 7, 9 and 10 agents, sizes it had never met.",
        "What counts is the return, and more is better: sum over 25 steps of: minus the distances from each "
        "landmark to its closest agent, minus the number of colliding pairs.",
        "On Spread with 9 or 10 agents, PC3D-MAPPO has a mean return of −9.50 (one seed, so no interval); "
        "nothing else is here to compare.",
        "On Spread PC3D-MAPPO's mean return is −4.20 at training sizes and −9.50 at test sizes; how much of "
        "that comes from the team's size alone, only reference players could tell.",
    ]


def test_a_lead_has_its_interval_and_its_seeds(play):
    play("mappo", -6.0)
    lead = story(play("pc3d", -5.0)())[2]
    # 1 ± 2.776 × √(2 × 0.01 / 3)
    assert lead == (
        "On Spread with 9 or 10 agents, PC3D-MAPPO has the best mean return, −5.00: 1.00 more than MAPPO "
        "(95 % interval 0.77 to 1.23, three seeds each)."
    )


def test_a_lead_that_may_be_chance_is_said_to(play):
    play("mappo", -5.05)
    assert "three seeds each; it may be chance)" in story(play("pc3d", -5.0)())[2]


def test_one_seed_of_each_tells_nothing_of_chance(play):
    play("mappo", -6.0, noises=(0.0,))
    lead = story(play("pc3d", -5.0, noises=(0.0,))())[2]
    assert lead.endswith("1.00 more than MAPPO (one seed each: too few to tell from chance).")


def test_a_method_that_beats_ours_is_named_first(play):
    play("mappo", -6.0)
    play("gate-on", -4.0)
    lead = story(play("pc3d", -5.0)())[2]
    assert "Always On Gate has the best mean return, −4.00: 1.00 more than PC3D-MAPPO" in lead
    assert "; PC3D-MAPPO has 1.00 more than MAPPO" in lead


def test_a_backbone_that_leads_is_compared_with_ours(play):
    play("mappo", -4.0)
    lead = story(play("pc3d", -5.0)())[2]
    assert "MAPPO has the best mean return, −4.00: 1.00 more than PC3D-MAPPO (" in lead
    assert "; PC3D-MAPPO has" not in lead


def test_several_tasks_have_a_sentence_each(play):
    play("mappo", 0.1, task="lbf")
    told = story(play("mappo", -6.0)())
    assert told[0].startswith("MAPPO learned Spread and LBF in teams of some sizes (three seeds)")
    assert [sentence.split(" with")[0] for sentence in told[1:3]] == ["On Spread", "On LBF"]


def test_what_new_sizes_cost_is_told_where_references_set_the_scale(play, tmp_path):
    """A half of the way from random to scripted at training sizes, a quarter at all others."""
    runs = play("pc3d", lambda size: 5.0 if size in (1, 2, 4, 6, 8) else 2.5)
    sizes = paper_of("spread").rosters.all
    players = {
        name: {size: [level] for size in sizes} for name, level in (("random", 0.0), ("scripted", 10.0))
    }
    write_references(tmp_path / "references.csv", "spread", players)
    assert story(runs())[-1] == (
        "At all sizes never trained with, PC3D-MAPPO's score (0 is random play, 1 the best reference player) "
        "is 0.25 instead of 0.50 on Spread (95 % interval of the change −0.25 to −0.25)."
    )


def test_runs_without_scores_are_counted_or_are_all_there_is(tmp_path, play):
    make_run(tmp_path, "spread", "mappo", 0, None)
    assert story(find_runs([tmp_path]))[0] == NOTHING_YET
    assert team_size_chart(find_runs([tmp_path])) is None
    told = story(play("pc3d", -5.0)())
    assert told[-1] == "One of the 4 runs is unfinished or not scored, and left out."


def test_the_chart_marks_what_was_never_trained_with_and_names_its_methods(play):
    play("mappo", -6.0)
    runs = play("pc3d", -5.0)()
    for chart in (team_size_chart(runs), team_size_chart(runs, narrow=True)):
        (panel,) = chart.drawing.axes
        assert [round(patch.get_x() + 0.5) for patch in panel.patches] == [9, 10]
        dots = [list(line.get_xdata()) for line in panel.lines if line.get_marker() == "o"]
        assert dots == [[1, 2, 4, 6, 8], [3, 5, 7, 9, 10]] * 2
        assert len(panel.collections) == 2  # a band for each
        picture = svg(chart)
        for words in ("MAPPO", "PC3D-MAPPO", "never trained with", "agents in the team"):
            assert words in picture


def test_replays_open_where_the_watched_methods_differ_most(play, tmp_path):
    play("mappo", 0.0)
    runs = play("pc3d", lambda size: 3.0 if size in (5, 9) else 1.0)
    assert most_telling(runs()) is None  # nobody can be watched
    for run in runs().all:
        for size in paper_of("spread").rosters.all:
            replay = run.folder.path / "replays" / f"size-{size}.json"
            replay.parent.mkdir(exist_ok=True)
            replay.write_text("{}")
    assert most_telling(runs()) == Opening("spread", 9)


def test_a_section_about_nothing_is_empty(play):
    runs = play("pc3d", -5.0)()
    shown = [made.heading for make in SECTIONS if not (made := make(runs)).empty]
    assert shown == ["Results", "Team sizes", "Benchmarks", "Runs"]


def test_a_report_of_runs_that_say_nothing_says_why(tmp_path):
    for seed in range(5):
        make_run(tmp_path, "spread", "mappo", seed, {2: [-1.0]})
    nothing, *why = story(find_runs([tmp_path]))
    assert nothing == NOTHING_YET
    assert why[0].startswith("spread mappo seed 0: not evaluated at team sizes 1, 3, 4, 5, 6, 7, 8, 9, 10")
    assert (len(why), why[-1]) == (4, "So it is with two more.")
