"""The web page in a real browser: it plays, by mouse and by keyboard, wide and narrow, offline."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Drawing

from pc3d.report.figures.style import Figure
from pc3d.report.opening import Opening
from pc3d.report.page.page import replay_page
from pc3d.report.sections import Beginning, Section
from pc3d.report.story import Point
from pc3d.report.tables.table import Cell, Table
from tests.report.page.browser import Browser, chromium, chromium_is_installed
from tests.report.page.sample_replays import sample_replay
from tests.report.page.test_page import HOSTILE, PICTURES, TINY_REPLAY, hostile_section, write_page

pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(
        not chromium_is_installed(),
        reason="the page's tests need a browser: install the Debian packages chromium and chromium-driver",
    ),
]
STEPS = 25
POINTS = (
    Point("The players", "Nobody leads."),
    *(Point(f"Game {number}", "It may be chance.", "More is better.", beside=True) for number in range(3)),
)
SPREAD_STEPS_PER_SECOND = 5
STAGES = ".stage:not([data-empty]) .picture canvas:not(.presence)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with two methods on all three tasks."""
    teams = [("spread", 4), ("spread", 9), ("lbf", 8), ("rware", 10)]
    replays = [
        sample_replay(task, method, size, steps=STEPS) for task, size in teams for method in ("mappo", "pc3d")
    ]
    replays.append(sample_replay("spread", "pc3d", 9, seed=1, steps=STEPS))
    columns = ("Method", *(f"column {number}" for number in range(20)))
    row = (Cell("MAPPO"), *[Cell("−42.0 ± 0.8")] * 20)
    table = Table("wide", "A table", "Wider than a phone.", columns, (row,))
    figure = Figure("wide", "A figure", "Wide, too.", Drawing())
    pictures = {"wide": '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="90"/>'}
    sections = [
        Section("Results", "Text.", (table,), (figure,), folded=False),
        *(Section(f"Details, part {number}", "Text.\n\n" * 20) for number in range(8)),
    ]
    charts = tuple(
        Figure(name, "A chart", "Of scores.", Drawing()) for name in ("overview", "overview-narrow")
    )
    pictures |= {
        chart.name: f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="200"/>'
        for chart, width in zip(charts, (1000, 330), strict=True)
    }
    return write_page(
        tmp_path_factory.mktemp("report"),
        title="Report",
        sections=sections,
        pictures=pictures,
        replays=replays,
        beginning=Beginning(POINTS, charts),
        opening=Opening("lbf", 8),
    )


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def viewer(window: Browser, page: Path) -> Iterator[Browser]:
    """Spread on the page freshly opened at desktop width; whatever a test does, the console stays empty."""
    open_page(window, page)
    choose(window, "#task", "spread")
    window.wait_for("document.querySelectorAll('.stage:first-child .agents button').length === 9")
    window.run("document.querySelector('.stages').scrollIntoView()")  # keys are for what is in sight
    yield window
    assert window.console() == []


def open_page(window: Browser, page: Path, width: int = 1280, height: int = 900, **media: str) -> None:
    window.emulate(width, height, **media)
    window.console()
    window.requested()
    window.open(page)
    window.wait_for("document.getElementById('clock').textContent")


def open_replay(window: Browser, folder: Path, replay: dict[str, Any]) -> None:
    path = folder / "watch.html"
    path.write_text(replay_page([replay]), encoding="utf-8")
    open_page(window, path)
    window.run("document.querySelector('.stages').scrollIntoView()")


def without_last_agent(world: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in ("positions", "directions", "carried") if name in world]
    return world | {name: [team[:-1] for team in world[name]] for name in names}


def agents_shown(window: Browser) -> tuple[str, int]:
    """How many the picture's description speaks of, and how many have a visible button."""
    described = window.run("return document.querySelector('.stage canvas').ariaLabel.match(/\\d+ agents/)[0]")
    chips = "[...document.querySelectorAll('.stage:first-child .agents button')]"
    visible = f"return {chips}.filter(chip => chip.checkVisibility({{visibilityProperty: true}})).length"
    return described, window.run(visible)


def step(window: Browser) -> int:
    return int(window.text("#clock").split("/")[0])


def choose(window: Browser, selector: str, value: str) -> None:
    enter(window, selector, value, "change")


def enter(window: Browser, selector: str, value: str, event: str) -> None:
    script = "const [selector, value, event] = arguments; const field = document.querySelector(selector);"
    script += "field.value = value; field.dispatchEvent(new Event(event, {bubbles: true}))"
    window.run(script, selector, value, event)


# Pictures with bars of presence are smaller than others.
OF_ONE_HEIGHT = "document.querySelector('.stages').style.setProperty('--stage-height', '400px')"


def pictures(window: Browser) -> list[str]:
    """What the stages show, as data that differs where the picture does."""
    return window.run(f"return [...document.querySelectorAll('{STAGES}')].map(canvas => canvas.toDataURL())")


def colours(window: Browser) -> list[int]:
    """How many different colours each stage shows: one where it is blank."""
    return window.run(
        f"""return [...document.querySelectorAll('{STAGES}')].map(canvas => new Set(new Uint32Array(
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)"""
    )


def test_it_loads_without_errors_and_asks_for_nothing_but_itself(window, page):
    open_page(window, page)
    assert window.console() == []
    assert [address for address in window.requested() if not address.startswith("data:")] == [page.as_uri()]


def test_it_opens_on_the_most_telling_task_and_size(window, page):
    open_page(window, page)
    assert window.run("return document.querySelector('#task').value") == "lbf"
    assert window.run("return document.querySelector('#sizes :checked').value") == "8"


def test_the_story_is_the_first_thing_on_the_screen(window, page):
    for width, height, chart in ((1280, 800, 1000), (375, 800, 330)):
        open_page(window, page, width, height)
        place = window.run("return document.querySelector('#beginning dt').getBoundingClientRect().toJSON()")
        assert 0 < place["top"] < place["bottom"] < height / 2
        shown = window.run("return document.querySelector('#beginning img').naturalWidth")
        assert shown == chart


@pytest.mark.parametrize("width", [375, 1280])
def test_the_contents_lead_to_every_section_and_open_what_is_folded(window, page, width):
    open_page(window, page, width, 800)
    links = window.run("return [...document.querySelectorAll('nav a')].map(link => link.hash)")
    assert len(links) == 2 + 9  # the story, the replays and the sections
    for link in links:
        click = f"const link = document.querySelector('nav a[href=\"{link}\"]');"
        window.run(f"{click} link.scrollIntoView({{inline: 'center', block: 'nearest'}}); link.click()")
        below_the_contents = (
            f"(() => {{ const place = document.querySelector('{link}').getBoundingClientRect(); "
            "return place.top >= 40 && place.top < innerHeight && place.height > 0 })()"
        )
        window.wait_for(below_the_contents)
    assert window.run("return document.querySelectorAll('details.section:not([open])').length") == 0
    assert window.run("return document.querySelector('nav').getBoundingClientRect().top") == 0
    assert window.run("return document.documentElement.scrollWidth") <= width


def test_it_starts_paused_with_the_method_beside_its_backbone_on_the_largest_unseen_team(viewer):
    assert step(viewer) == 0
    assert viewer.run("return document.querySelector('.stage select').value") == "pc3d"
    assert viewer.run("return document.querySelector('.stage:nth-child(2) select').value") == "mappo"
    assert viewer.run("return document.querySelector('#sizes :checked').value") == "9"
    assert viewer.text("#split") == "never trained with"


def test_it_says_what_is_usual_of_the_two_policies_and_that_an_episode_may_be_unlike_it(window, tmp_path):
    replays = [
        sample_replay("spread", method, size, steps=STEPS) | {"usual": {"return": mean, "episodes": 100}}
        for size in (9, 10)
        for method, mean in (("pc3d", -70.25), ("mappo", -80.5))
    ]
    for one, shown in zip(replays, (-60.0, -50.0, -60.0, -90.0), strict=True):
        one["return"] = shown  # at 9, the other one is ahead
    path = write_page(tmp_path, title="Report", sections=[], pictures={}, replays=replays)
    for size, contrary in ((9, True), (10, False)):
        open_page(window, path)
        window.click(f"#sizes [value='{size}']")
        window.wait_for(f"document.querySelector('.stage canvas').ariaLabel.includes('{size} agents')")
        told = window.text("#usual")
        assert "over 100 episodes" in told
        assert "PC3D-MAPPO −70.3 and MAPPO −80.5" in told or "PC3D-MAPPO −70.2 and MAPPO −80.5" in told
        assert ("the other way round" in told) == contrary
    assert window.console() == []


def test_the_controls_cover_nothing_before_one_gets_to_the_teams(window, page):
    open_page(window, page, 1280, 800)
    heading_is_seen = """
        const heading = document.querySelector("#viewer-heading");
        scrollTo(0, scrollY + heading.getBoundingClientRect().bottom - innerHeight + 8);
        const place = heading.getBoundingClientRect();
        const middle = (place.top + place.bottom) / 2;
        return document.elementFromPoint(place.left + 20, middle) === heading;
    """
    assert window.run(heading_is_seen)
    in_sight = """
        document.querySelector(".stages").scrollIntoView();
        const controls = document.querySelector(".transport").getBoundingClientRect();
        return controls.bottom <= innerHeight;
    """
    assert window.run(in_sight)


def test_games_stand_side_by_side_where_there_is_room(window, page):
    for width, rows in ((1280, 1), (375, 3)):
        open_page(window, page, width, 800)
        games = "[...document.querySelectorAll('#beginning .beside')]"
        tops = window.run(f"return {games}.map(game => game.getBoundingClientRect().top)")
        assert len(tops) == 3
        assert len(set(tops)) == rows


def test_the_play_button_plays_and_pauses(viewer):
    viewer.click("#play")
    viewer.wait_for("parseInt(document.getElementById('clock').textContent) >= 2")
    viewer.click("#play")
    paused_at, shown = step(viewer), pictures(viewer)
    time.sleep(0.4)
    assert step(viewer) == paused_at
    assert pictures(viewer) == shown


def test_it_plays_again_from_the_start_and_stops_at_the_end(viewer):
    viewer.press("end", "space")
    viewer.wait_for(f"parseInt(document.getElementById('clock').textContent) < {STEPS}")
    choose(viewer, "#speed", "8")
    viewer.wait_for(f"parseInt(document.getElementById('clock').textContent) === {STEPS}")
    assert viewer.run("return document.getElementById('play').ariaLabel") == "Play"


def test_keys_step_jump_and_play(viewer):
    viewer.press("right", "right", "right", "left")
    assert step(viewer) == 2
    viewer.press("end")
    assert step(viewer) == STEPS
    viewer.press("home")
    assert step(viewer) == 0
    viewer.press("space")
    viewer.wait_for("parseInt(document.getElementById('clock').textContent) >= 1")
    viewer.press("space")
    assert viewer.run("return document.getElementById('play').ariaLabel") == "Play"


def test_the_slider_scrubs(viewer):
    before = pictures(viewer)
    enter(viewer, "#scrub", "10", "input")
    assert step(viewer) == 10
    assert all(one != other for one, other in zip(before, pictures(viewer), strict=True))


def test_a_click_into_the_chart_goes_to_that_step(viewer):
    viewer.click("#chart")  # in its middle; the axis' labels push the steps a little to the right
    assert abs(step(viewer) - STEPS / 2) <= 2


def test_the_return_so_far_ends_at_the_reported_return(viewer):
    viewer.press("end")
    result = viewer.text(".stage .result").split()
    assert result[1] == result[3]


def test_foragers_share_their_return(window, tmp_path):
    world = {"size": 10, "sight": 2, "levels": [1, 1], "foods": [[5, 5, 2]], "food_left": [1, 0]}
    world["positions"] = [[[5, 4], [5, 6]]] * 2
    shared = {"task": "lbf", "team_size": 2, "reward": [1.0], "return": 0.5, "world": world}
    open_replay(window, tmp_path, TINY_REPLAY | shared)
    window.press("end")
    assert window.text(".stage .result") == "return 0.50 of 0.50"


def test_another_team_size_brings_another_team(viewer):
    viewer.run("document.querySelector('#sizes input[value=\"4\"]').click()")
    viewer.wait_for("document.querySelectorAll('.stage:first-child .agents button').length === 4")
    assert viewer.text("#split") == "trained with"


def test_another_method_is_shown_in_the_other_ones_place(viewer):
    before = pictures(viewer)
    choose(viewer, ".stage:first-child select", "mappo")
    viewer.wait_for("document.querySelector('.stage canvas').ariaLabel.includes('MAPPO, 9 agents')")
    viewer.press("right")
    shown = pictures(viewer)
    assert shown[0] == shown[1] != before[0]


def test_another_seed_can_be_compared_with_the_first(viewer):
    choose(viewer, ".stage:nth-child(2) select", "pc3d")
    viewer.wait_for("document.querySelectorAll('.stage:nth-child(2) select')[1].options.length === 2")
    choose(viewer, ".stage:nth-child(2) select:nth-of-type(2)", "1")
    viewer.press("end")
    first, second = pictures(viewer)
    assert first != second


def test_the_second_policy_can_be_left_out(viewer):
    choose(viewer, ".stage:nth-child(2) select", "")
    viewer.wait_for("document.querySelector('.stage:nth-child(2)').hasAttribute('data-empty')")
    assert len(pictures(viewer)) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("task", "team_size"), [("spread", 9), ("lbf", 8), ("rware", 10)])
def test_every_task_is_drawn_in_light_and_dark(window, page, task, team_size, scheme):
    open_page(window, page, prefers_color_scheme=scheme)
    choose(window, "#task", task)
    window.wait_for(f"document.querySelectorAll('.stage:first-child .agents button').length === {team_size}")
    window.press("right", "o")
    assert min(colours(window)) > 30
    assert window.console() == []


def test_what_agents_observe_is_shown_on_request(viewer):
    before = pictures(viewer)
    viewer.click("#range")
    assert pictures(viewer) != before
    viewer.click("#range")
    assert pictures(viewer) == before


def test_a_chosen_agent_is_marked_on_both_stages_and_says_its_gate_and_alignment(viewer):
    before = pictures(viewer)
    viewer.click(".stage:first-child .agents li:nth-child(3) button")
    chips = "[...document.querySelectorAll('.agents [aria-pressed=true]')]"
    pressed = viewer.run(f"return {chips}.map(chip => chip.ariaLabel)")
    assert pressed[0].startswith("Agent 3: gate ")
    assert ", alignment " in pressed[0]
    assert pressed[1] == "Agent 3"
    assert all(one != other for one, other in zip(before, pictures(viewer), strict=True))


def test_the_teachers_attention_is_a_table_of_agents_and_tokens(viewer):
    table = ".stage:first-child .attention"
    assert viewer.run(f"return document.querySelectorAll('{table} td').length") == 9 * (4 + 4)
    assert viewer.run(f"return document.querySelector('{table} tr:nth-child(2) td').title") == "70 %"
    assert viewer.run("return document.querySelector('.stage:nth-child(2) .attention').hidden")
    viewer.click(".stage:first-child .agents li:nth-child(3) button")
    assert viewer.text(f"{table} tr.near th") == "3"


def test_with_reduced_motion_only_whole_steps_are_shown(window, page):
    def different_pictures() -> int:
        window.click("#play")
        seen = set()
        for _ in range(12):
            time.sleep(0.05)
            seen.add(pictures(window)[0])
        window.click("#play")
        return len(seen)

    open_page(window, page, prefers_reduced_motion="no-preference")
    smooth = different_pictures()
    open_page(window, page, prefers_reduced_motion="reduce")
    assert different_pictures() <= step(window) + 1
    assert smooth >= 8


def test_every_control_is_reached_by_tab_and_shows_the_focus(viewer):
    viewer.run("document.querySelector('#viewer').tabIndex = -1; document.querySelector('#viewer').focus()")
    reached = set()
    for _ in range(50):
        viewer.press("tab")
        name = viewer.run("return document.activeElement.id || document.activeElement.name")
        # A size's own radio button is invisible: the box beside it shows the focus.
        shows = "activeElement.nextElementSibling" if name == "team-size" else "activeElement"
        if name:
            assert viewer.run(f"return getComputedStyle(document.{shows}).outlineStyle") == "solid", name
        reached.add(name)
    assert {"task", "team-size", "range", "play", "back", "forward", "scrub", "speed"} <= reached


@pytest.mark.parametrize(("width", "height"), [(375, 812), (1280, 900)])
@pytest.mark.parametrize("task", ["spread", "lbf", "rware"])
def test_it_fits_the_width_of_phones_and_desktops(window, page, tmp_path, task, width, height):
    open_page(window, page, width, height)
    choose(window, "#task", task)
    window.wait_for("document.querySelectorAll('.agents button').length")
    assert window.run("return document.documentElement.scrollWidth") <= width
    narrowest = "Math.min(...[...document.querySelectorAll('.buttons button')].map(b => b.offsetWidth))"
    assert window.run(f"return {narrowest}") >= 44
    window.screenshot(tmp_path / f"{task}-{width}.png")
    assert (tmp_path / f"{task}-{width}.png").stat().st_size > 10_000


def test_hostile_names_run_nothing(window, tmp_path):
    replays = [TINY_REPLAY | {"method": HOSTILE, "split": HOSTILE}, TINY_REPLAY | {"task": HOSTILE}]
    path = write_page(
        tmp_path, title=HOSTILE, sections=[hostile_section()], pictures=PICTURES, replays=replays
    )
    open_page(window, path)  # an alert would make every command below fail
    assert window.run("return document.title.startsWith('</script>')")
    assert window.text(".stage select option") == HOSTILE
    assert window.text("#split") == HOSTILE
    assert window.run("return document.images.length") == 1
    assert window.console() == []


@pytest.mark.parametrize(("task", "team_size"), [("spread", 5), ("lbf", 5), ("rware", 4)])
def test_only_agents_that_are_there_are_drawn_labelled_and_counted(window, tmp_path, task, team_size):
    replay = sample_replay(task, "pc3d", team_size, steps=4)
    arrives_at_2 = [[1] * (team_size - 1) + [int(moment >= 2)] for moment in range(5)]
    open_replay(window, tmp_path, replay | {"world": without_last_agent(replay["world"])})
    window.run(OF_ONE_HEIGHT)
    window.press("right", "o")
    alone = pictures(window)
    open_replay(window, tmp_path, replay | {"present": arrives_at_2})
    window.run(OF_ONE_HEIGHT)
    window.press("right", "o")
    assert pictures(window) == alone
    assert agents_shown(window) == (f"{team_size - 1} agents", team_size - 1)
    window.press("right")
    assert agents_shown(window) == (f"{team_size} agents", team_size)
    window.click(f".agents li:nth-child({team_size}) button")
    window.press("left")  # nothing is said of a chosen agent before it arrives
    assert pictures(window) == alone
    assert window.console() == []


def test_an_agent_that_leaves_is_last_seen_where_it_last_was(window, tmp_path):
    def halfway_through_the_step_to(place: list[int], **changes: Any) -> list[str]:
        world = {"landmarks": [[0, 0]], "positions": [[[500, 0], [-500, 0]], [[500, 0], place]]}
        open_replay(window, tmp_path, TINY_REPLAY | {"team_size": 2, "world": world} | changes)
        window.run("performance.now = () => 0; requestAnimationFrame = (frame) => (window.frame = frame)")
        window.click("#play")
        window.run("window.frame(arguments[0])", 500 / SPREAD_STEPS_PER_SECOND)
        return pictures(window)

    away, stays = [-500, 800], [-500, 0]  # where its state says it is when it is no longer there
    assert halfway_through_the_step_to(away) != halfway_through_the_step_to(stays)
    gone = {"present": [[1, 1], [1, 0]]}
    assert halfway_through_the_step_to(away, **gone) == halfway_through_the_step_to(stays, **gone)


def test_bars_under_a_stage_say_who_was_there_when_and_a_click_on_them_leads_there(window, tmp_path):
    replay = sample_replay("spread", "pc3d", 4, steps=10)
    shown = "document.querySelector('.presence').checkVisibility()"
    open_replay(window, tmp_path, replay)
    assert not window.run(f"return {shown}")
    present = [[1, 1, int(moment < 3 or moment > 6), 1] for moment in range(11)]
    open_replay(window, tmp_path, replay | {"present": present})
    assert window.run(f"return {shown}")
    window.click(".presence")  # in the middle of the eleven moments
    window.wait_for("document.getElementById('clock').textContent === '5 / 10'")
    pixels = """const bars = document.querySelector('.presence'), {width, height} = bars;
    const {data} = bars.getContext('2d').getImageData(0, 0, width, height);
    return arguments[0].map(([moment, slot]) => {
      const [x, y] = [(moment + 0.5) / 11 * width, (slot + 0.4) / 4 * height].map(Math.floor);
      return data.slice(4 * (y * width + x), 4 * (y * width + x) + 4).join();
    })"""
    there, away, now, again = window.run(pixels, [[0, 0], [3, 2], [5, 0], [8, 2]])
    assert len({there, away, now}) == 3
    assert again == there
    assert "3 of 4 slots at step 5" in window.run("return document.querySelector('.presence').ariaLabel")
    assert window.console() == []


def test_unlike_agents_of_spread_are_drawn_at_their_own_size(window, tmp_path):
    world = {"landmarks": [[0, 0]], "positions": [[[500, 0], [-500, 0]]] * 2}

    def picture(**sizes: Any) -> list[str]:
        open_replay(window, tmp_path, TINY_REPLAY | {"team_size": 2, "world": world | sizes})
        return pictures(window)

    alike = picture()
    assert picture(sizes=[150, 150]) == alike
    assert picture(sizes=[150, 300]) != alike
    assert window.console() == []


def test_a_replay_page_shows_a_single_replay(window, tmp_path):
    open_replay(window, tmp_path, TINY_REPLAY)
    assert window.text("#clock") == "0 / 1"
    assert len(pictures(window)) == 1
    assert window.console() == []
