"""Bars under a film: who was there when, who joined, and where the film is."""

import numpy as np
import pytest

from pc3d.evaluation.presence_bars import AWAY, INK, NEW, THERE, presence_bars

PRESENT = np.array([[True, True, False]] * 10 + [[True, False, False]] * 5 + [[True, False, True]] * 5)


def colours(bars: np.ndarray, slot: int) -> list[tuple[int, ...]]:
    row = bars[slot * len(bars) // 3]
    return [tuple(map(int, pixel)) for pixel in row]


def test_every_slot_has_its_bar():
    bars = presence_bars(PRESENT, 0, 200)
    stayed, left, came = (colours(bars, slot)[10:] for slot in range(3))  # without the line at the start
    assert set(stayed) == {THERE}
    assert left == [THERE] * 90 + [AWAY] * 100
    assert came == [AWAY] * 140 + [NEW] * 3 + [THERE] * 47


def test_a_line_shows_the_moment():
    places = [colours(presence_bars(PRESENT, moment, 200), 0).index(INK) for moment in range(20)]
    assert places == [10 * moment + 4 for moment in range(20)]


@pytest.mark.parametrize(("moments", "slots"), [(501, 20), (2, 1), (26, 128)])
def test_long_episodes_and_large_teams_fit(moments, slots):
    present = np.ones((moments, slots), bool)
    present[moments // 2 :, 0] = False
    bars = presence_bars(present, moments - 1, 320)
    assert bars.shape[1:] == (320, 3)
    assert len(bars) <= max(96, 2 * slots)
    assert np.all(bars[0, :150] == THERE)
    assert np.all(bars[0, 170:230] == AWAY)


def test_a_join_is_seen_though_a_moment_is_less_than_a_pixel():
    present = np.zeros((1001, 1), bool)
    present[500:] = True
    assert NEW in [tuple(map(int, pixel)) for pixel in presence_bars(present, 0, 200)[0]]
