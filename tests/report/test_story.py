"""The sentences a report begins with: other runs, other words, and nothing said that the runs do not tell."""

import json
from dataclasses import replace

import pytest

from pc3d.presets.experiment_file import to_plain
from pc3d.presets.paper import custom, paper
from pc3d.report.figures.style import svg
from pc3d.report.figures.team_sizes import team_size_chart
from pc3d.report.opening import Opening, most_telling
from pc3d.report.runs import find_runs
from pc3d.report.sections import SECTIONS
from pc3d.report.story import IN_SHORT, NOTHING_YET, QUESTION, question, story
from pc3d.tasks.registry import TASKS, paper_of
from tests.play.hosted.tiny import own_world
from tests.report.made_up import make_run, write_references, write_scores

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


@pytest.fixture
def texts():
    """What the points of a story say, by what they are about."""
    return lambda runs: {point.label: point.whole for point in story(runs)}


def test_one_run_is_told_without_a_comparison(play, texts):
    told = texts(play("pc3d", lambda size: -float(size), noises=(0.0,), episodes=2000)())
    assert told == {
        "The game: Spread": (
            "As many landmarks as agents lie in a plane. The team should cover them all, and nobody should "
            "bump into another. No agent gets messages or orders: each acts on what it has seen itself."
        ),
        "The players": (
            "PC3D-MAPPO learned Spread in teams of 1, 2, 4, 6 or 8 agents, for 2,000 episodes (one seed); "
            "then it also played with 3, 5, 7, 9 and 10 agents, sizes it had never met. PC3D-MAPPO is MAPPO "
            "with a teacher: in training it tells each agent what the whole team means for it, and the agent "
            "learns to guess that. A seed is one whole training."
        ),
        "The score": (
            "What counts is the return, and more is better: sum over 25 steps of: minus the distances from "
            "each landmark to its closest agent, minus the number of colliding pairs. It is below zero here, "
            "so nearer to zero is better."
        ),
        "The outcome": (
            "On Spread with 9 or 10 agents, PC3D-MAPPO has a mean return of −9.50 (one seed, so no interval);"
            " nothing else is here to compare. On Spread PC3D-MAPPO's mean return is −4.20 at training sizes "
            "and −9.50 at test sizes. How much of that comes from the team's size alone, only reference "
            "players could tell."
        ),
    }
    assert question(play("pc3d", -1.0, noises=())()) == QUESTION


def test_every_task_that_comes_with_pc3d_says_what_is_played():
    for entry in TASKS.values():
        assert entry.about.endswith(".")
        assert 40 < len(entry.about) < 160


def test_an_own_task_is_told_in_its_own_words(tmp_path, texts):
    of_spread = paper("spread", "pc3d")
    world = replace(own_world(), about="Agents in a ring tag each other.")
    experiment = custom("tags:Ring", "pc3d", of_spread.rosters, of_spread.curriculum, world=world)
    about = {"experiment": to_plain(experiment), "return_definition": world.return_definition}
    (tmp_path / "experiment.json").write_text(json.dumps(about))
    (tmp_path / "done.json").write_text("{}")
    write_scores(tmp_path / "scores.csv", [(experiment, {size: [1.0] for size in range(1, 11)})])
    told = texts(find_runs([tmp_path]))["The game: tags:Ring"]
    assert told.startswith("Agents in a ring tag each other. No agent gets messages or orders: ")


def test_where_agents_are_told_something_nobody_says_that_they_are_not(play, texts):
    assert "No agent gets messages" in texts(play("pc3d", -5.0)())["The game: Spread"]
    assert "messages" not in texts(play("copa", -6.0)())["The game: Spread"]


def test_a_method_without_plain_words_is_told_by_its_summary(play, texts):
    play("qmix", -6.0)
    players = texts(play("pc3d", -5.0)())["The players"]
    assert "QMIX is utilities mixed by weights from all observations, padded." in players
    assert "MAPPO is the usual way" not in players  # it did not play


def test_a_return_shown_with_a_factor_says_so_and_one_above_zero_is_not_called_below(play, texts):
    score = texts(play("pc3d", 0.1, task="lbf")())["The score"]
    assert score.startswith("What counts is the return (shown times 100), and more is better: rewards summed")
    assert "below zero" not in score


def test_a_lead_has_its_interval_and_its_seeds(play, texts):
    play("mappo", -6.0)
    lead = texts(play("pc3d", -5.0)())["The outcome"]
    # 1 ± 2.776 × √(2 × 0.01 / 3)
    assert lead.startswith(
        "On Spread with 9 or 10 agents, PC3D-MAPPO has the best mean return, −5.00: 1.00 more than MAPPO "
        "(95 % interval 0.77 to 1.23, three seeds each)."
    )


def test_a_lead_that_may_be_chance_is_said_to(play, texts):
    play("mappo", -5.05)
    assert "three seeds each; it may be chance)" in texts(play("pc3d", -5.0)())["The outcome"]


def test_one_seed_of_each_tells_nothing_of_chance(play, texts):
    play("mappo", -6.0, noises=(0.0,))
    lead = texts(play("pc3d", -5.0, noises=(0.0,))())["The outcome"]
    assert "1.00 more than MAPPO (one seed each: too few to tell from chance)." in lead


def test_a_method_that_beats_ours_is_named_first(play, texts):
    play("mappo", -6.0)
    play("gate-on", -4.0)
    lead = texts(play("pc3d", -5.0)())["The outcome"]
    assert "Always On Gate has the best mean return, −4.00: 1.00 more than PC3D-MAPPO" in lead
    assert "; PC3D-MAPPO has 1.00 more than MAPPO" in lead


def test_a_backbone_that_leads_is_compared_with_ours(play, texts):
    play("mappo", -4.0)
    lead = texts(play("pc3d", -5.0)())["The outcome"]
    assert "MAPPO has the best mean return, −4.00: 1.00 more than PC3D-MAPPO (" in lead
    assert "; PC3D-MAPPO has" not in lead


def test_several_tasks_stand_side_by_side_each_with_its_game_its_lead_and_its_score(play):
    play("mappo", 0.1, task="lbf")
    players, *games = story(play("mappo", -6.0)())
    assert players.text.startswith("MAPPO learned Spread and LBF in teams of some sizes (three seeds)")
    assert [point.label for point in games if point.beside] == ["Spread", "LBF"]
    for point in games[:2]:
        assert point.text.startswith(TASKS[point.label.lower()].about)
        assert f"On {point.label} with" in point.text
        assert point.note.startswith("What counts is the return")


def test_what_new_sizes_cost_is_told_where_references_set_the_scale(play, texts, tmp_path):
    """A half of the way from random to scripted at training sizes, a quarter at all others."""
    runs = play("pc3d", lambda size: 5.0 if size in (1, 2, 4, 6, 8) else 2.5)
    sizes = paper_of("spread").rosters.all
    players = {
        name: {size: [level] for size in sizes} for name, level in (("random", 0.0), ("scripted", 10.0))
    }
    write_references(tmp_path / "references.csv", "spread", players)
    assert texts(runs())["The outcome"].endswith(
        "At all sizes never trained with, PC3D-MAPPO's score (0 is random play, 1 the best reference player) "
        "is 0.25 instead of 0.50 on Spread (95 % interval of the change −0.25 to −0.25)."
    )


@pytest.fixture
def references(tmp_path):
    """Players of a task, each with one return in all of its episodes."""

    def add(task="spread", **levels):
        sizes = paper_of(task).rosters.all
        players = {name: {size: [level] * 4 for size in sizes} for name, level in levels.items()}
        write_references(tmp_path / task / "references.csv", task, players)

    return add


@pytest.mark.parametrize(("level", "much"), [(-6.1, "better"), (-5.8, "clearly better")])
def test_where_nobody_has_learned_that_is_said_before_anybody_is_called_best(
    play, texts, references, level, much
):
    references(random=-6.0, scripted=-1.0)
    play("mappo", -7.0)
    assert texts(play("pc3d", level)())["The outcome"].startswith(
        f"Nobody plays {much} than random yet: on Spread with 9 or 10 agents random play has a mean return "
        f"of −6.00, the best method −{-level:.2f} and the best reference player −1.00. On Spread with 9 or 10"
    )


def test_where_a_twentieth_of_the_way_has_been_made_nobody_is_said_to_have_learned_nothing(
    play, texts, references
):
    references(random=-6.0, scripted=-1.0)
    assert "random yet" not in texts(play("pc3d", -5.7)())["The outcome"]


def test_one_seed_without_a_better_reference_is_held_against_chance_between_its_episodes(
    play, texts, references
):
    references(random=-6.0)
    assert texts(play("pc3d", -5.9, noises=(0.0,))())["The outcome"].startswith(
        "Nobody plays clearly better than random yet: on Spread with 9 or 10 agents random play has a mean "
        "return of −6.00 and the best method −5.90."
    )


def test_where_random_play_alone_is_known_the_best_is_told_beside_it(play, texts, references):
    references(random=-6.0)
    play("mappo", -5.5)
    told = texts(play("pc3d", -5.0)())["The outcome"]
    # 1 ± 4.303 × 0.1 / √3
    interval = "(95 % interval 0.75 to 1.25, three seeds)"
    assert f" PC3D-MAPPO has 1.00 more than random play, which has −6.00 {interval}." in told
    assert told.endswith(
        "On Spread PC3D-MAPPO's mean return is −5.00 (random play's −6.00) at training sizes and −5.00 "
        "(random play's −6.00) at test sizes."
    )


def test_new_sizes_are_told_of_every_task_that_is_known(play, texts, references):
    references(random=-6.0)
    play("pc3d", 0.1, task="lbf")
    told = texts(play("pc3d", -5.0)())["New sizes"]
    assert told == (
        "On Spread PC3D-MAPPO's mean return is −5.00 (random play's −6.00) at training sizes and −5.00 "
        "(random play's −6.00) at test sizes. On LBF PC3D-MAPPO's mean return is 10.0 at training sizes and "
        "10.0 at test sizes. How much of that comes from the team's size alone, only reference players could "
        "tell."
    )
    references("lbf", random=0.0, scripted=1.0)
    told = texts(play("pc3d", -5.0, noises=())())["New sizes"]
    assert "is 0.10 instead of 0.10 on LBF" in told
    assert "On Spread PC3D-MAPPO's mean return is −5.00 (random" in told


def test_runs_without_scores_are_counted_or_are_all_there_is(tmp_path, play, texts):
    make_run(tmp_path, "spread", "mappo", 0, None)
    assert story(find_runs([tmp_path]))[0].text.startswith(NOTHING_YET)
    assert question(find_runs([tmp_path])) == IN_SHORT
    assert team_size_chart(find_runs([tmp_path])) is None
    told = texts(play("pc3d", -5.0)())
    assert told["Also"] == "One of the 4 runs is unfinished or not scored, and left out."


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


def watched(runs, shown):
    """An episode of every method at every size, with this return."""
    return [
        {"task": "spread", "method": method, "team_size": size, "return": shown(method, size)}
        for method in runs.methods("spread")
        for size in paper_of("spread").rosters.all
    ]


def test_replays_open_on_the_test_size_whose_episodes_differ_most_as_the_means_do(play):
    play("mappo", 0.0)
    runs = play("pc3d", 3.0)()
    assert most_telling(runs, []) is None  # nobody can be watched
    for odd, opened in ((9, 10), (10, 9)):
        replays = watched(
            runs, lambda method, size, odd=odd: (9.0 if size == odd else 3.1) * (method == "pc3d")
        )
        assert most_telling(runs, replays) == Opening("spread", opened)


def test_replays_do_not_open_where_the_other_one_is_ahead_if_any_unseen_size_shows_what_is_usual(play):
    play("mappo", 0.0)
    runs = play("pc3d", 3.0)()
    contrary = watched(runs, lambda method, size: (-0.1 if size in (7, 9, 10) else 8.0) * (method == "pc3d"))
    assert most_telling(runs, contrary) in (Opening("spread", 3), Opening("spread", 5))
    always = watched(runs, lambda method, size: -size * (method == "pc3d"))
    assert most_telling(runs, always) == Opening("spread", 9)  # where the story is, and least unlike it


def test_a_section_about_nothing_is_empty(play):
    runs = play("pc3d", -5.0)()
    shown = [made.heading for make in SECTIONS if not (made := make(runs)).empty]
    assert shown == ["Results", "Team sizes", "Benchmarks", "Runs"]


def test_a_report_of_runs_that_say_nothing_says_why(tmp_path):
    for seed in range(5):
        make_run(tmp_path, "spread", "mappo", seed, {2: [-1.0]})
    (point,) = story(find_runs([tmp_path]))
    assert point.text.startswith(
        f"{NOTHING_YET} spread mappo seed 0: not evaluated at team sizes 1, 3, 4, 5, 6, 7, 8, 9, 10"
    )
    assert point.text.count("spread mappo seed") == 3
    assert point.text.endswith("So it is with two more.")
