"""Team sizes: what is refused, and which size an episode gets."""

import numpy as np
import pytest
from scipy.stats import chisquare

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.system.errors import BadInput
from pc3d.tasks.registry import paper_of, papers

HALVES = Curriculum((Stage(0.5, (1, 2), (0.4, 0.6)), Stage(0.5, (4,), (1.0,))))


@pytest.mark.parametrize(
    ("splits", "sentence"),
    [
        ({"train": ()}, "at least one training"),
        ({"train": (0, 2)}, "at least 1"),
        ({"train": (1, 2), "test": (2,)}, "one split only"),
    ],
)
def test_rosters_that_make_no_sense_are_refused(splits, sentence):
    with pytest.raises(BadInput, match=sentence):
        Rosters(**splits)


@pytest.mark.parametrize(
    ("fraction", "sizes", "probabilities", "sentence"),
    [
        (1.0, (1, 2), (1.0,), "as many probabilities as team_sizes"),
        (0.0, (1,), (1.0,), "fraction is above 0"),
        (1.0, (1, 2), (0.5, 0.4), "must sum to 1"),
        (1.0, (1, 2), (1.5, -0.5), "must sum to 1"),
    ],
)
def test_stages_that_make_no_sense_are_refused(fraction, sizes, probabilities, sentence):
    with pytest.raises(BadInput, match=sentence):
        Stage(fraction, sizes, probabilities)


def test_stages_must_share_all_the_episodes():
    with pytest.raises(BadInput, match=r"sum to 0\.5"):
        Curriculum((Stage(0.5, (1,), (1.0,)),))


def test_a_curriculum_may_not_train_on_test_sizes():
    rosters = Rosters(train=(1, 2), test=(4,))
    with pytest.raises(BadInput, match="stage 2 trains on team size 4, which is of the split 'test'"):
        HALVES.check_against(rosters)


@pytest.mark.parametrize("name", sorted(papers()))
def test_the_papers_curricula_train_on_training_sizes_only(name):
    paper_of(name).curriculum.check_against(paper_of(name).rosters)


def test_the_size_of_an_episode_depends_on_seed_and_number_only():
    forwards = [HALVES.team_size(7, episode, 100) for episode in range(100)]
    backwards = [HALVES.team_size(7, episode, 100) for episode in reversed(range(100))]
    assert forwards == backwards[::-1]
    assert forwards != [HALVES.team_size(8, episode, 100) for episode in range(100)]


def test_stages_change_exactly_at_their_boundaries():
    assert HALVES.boundaries(11) == (6, 11)
    assert [HALVES.stage_index(episode, 11) for episode in range(11)] == [0] * 6 + [1] * 5
    assert all(HALVES.team_size(0, episode, 11) == 4 for episode in range(6, 11))


@pytest.mark.parametrize("name", sorted(papers()))
def test_sizes_are_as_frequent_as_the_curriculum_says(name):
    """Chi-square for every stage; the seed is fixed, and a fair draw would fail once in 10,000."""
    episodes = 12_000
    curriculum = paper_of(name).curriculum
    sizes = np.array([curriculum.team_size(0, episode, episodes) for episode in range(episodes)])
    for stage, drawn in zip(
        curriculum.stages, np.split(sizes, curriculum.boundaries(episodes)), strict=False
    ):
        counts = [int(np.sum(drawn == size)) for size in stage.team_sizes]
        assert sum(counts) == len(drawn)
        chances = np.array(stage.probabilities) / sum(stage.probabilities)
        if len(counts) > 1:
            assert chisquare(counts, chances * len(drawn)).pvalue > 1e-4
