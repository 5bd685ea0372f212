"""How the cost of larger teams is measured and drawn."""

import pytest

from pc3d.benchmark.growth import TEAM_SIZES, Growth, experiment_of, growth_figure, slope


def test_a_slope_is_the_power_of_the_number_of_agents():
    growths = [_growth(agents) for agents in TEAM_SIZES]
    assert slope(growths, "update") == pytest.approx(1.5)
    assert slope(growths, "world's step") == pytest.approx(2.0)
    assert slope(growths, "compiling") == pytest.approx(0.0)
    assert slope(growths, "memory") == pytest.approx(1.0)


@pytest.mark.parametrize("task", ["spread", "lbf", "rware"])
def test_a_large_team_trains_alone_with_few_episodes(task):
    experiment = experiment_of(task, 128)
    assert experiment.rosters.train == experiment.curriculum.stages[0].team_sizes == (128,)
    assert experiment.episodes_per_update == 4


def test_the_figure_has_a_panel_for_each_measure():
    figure = growth_figure([_growth(8), _growth(16)])
    assert [axes.get_title() for axes in figure.drawing.axes] == [
        "update",
        "world's step",
        "compiling",
        "memory",
    ]
    drawn = figure.drawing.axes[0].get_lines()[0].get_ydata()
    assert list(drawn) == pytest.approx([1, 2**1.5])


def _growth(agents: int) -> Growth:
    return Growth("spread", agents, agents**1.5, agents**2.0, 3.0, 1000 * agents)
