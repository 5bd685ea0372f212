"""Preset files: what is written is read back, what a method inherits, and what is refused."""

import pytest

from pc3d.cli.train import parse
from pc3d.jobs.study import load_study
from pc3d.presets.changes import changed, changes_between
from pc3d.presets.paper import paper
from pc3d.presets.preset_file import Found, Preset, read_preset, write_preset
from pc3d.system.errors import BadInput
from pc3d.system.toml_file import LARGEST_FILE
from tests.small import OFF_POLICY_METHODS, PPO_METHODS, Q_METHODS

MAPPO_CHANGES = {
    "ppo.learning_rate": 7.5e-05,
    "ppo.epochs": 4,
    "actor.widths": (64, 64),
    "critic.widths": (96, 96),
    "recipe.batch_unit": "team_steps",
    "recipe.normalise_values": False,
}
PC3D_CHANGES = {
    "ppo.epochs": 4,
    "critic.tokens": 7,
    "distillation.weight": 0.5,
    "distillation.reliance_max": 1.0,
}
FOUND = Found('the "winner"', 20, 3, 2, 300, 64, -40.5, -50.25)


@pytest.fixture
def mappo_file(tmp_path):
    write_preset(tmp_path / "mappo.toml", Preset("spread", "mappo", MAPPO_CHANGES, FOUND))
    return tmp_path / "mappo.toml"


@pytest.fixture
def pc3d_file(tmp_path):
    write_preset(tmp_path / "pc3d.toml", Preset("spread", "pc3d", PC3D_CHANGES))
    return tmp_path / "pc3d.toml"


def refusal(task: str, method: str, preset) -> str:
    """What `pc3d train` says to a preset that it does not take."""
    with pytest.raises(BadInput) as caught:
        parse([task, method, "--preset", str(preset)])
    return str(caught.value)


def test_what_is_written_is_read_back(mappo_file):
    made = read_preset(mappo_file)
    assert made.found == FOUND
    expected = changed(paper("spread", "mappo"), MAPPO_CHANGES, "here")
    assert made.applied(paper("spread", "mappo"), "here") == expected
    assert changes_between(paper("spread", "mappo"), expected) == MAPPO_CHANGES


def test_train_takes_a_preset_file(mappo_file):
    experiment = parse(["spread", "mappo", "--preset", str(mappo_file), "--ppo.epochs", "5"]).experiment
    assert experiment.algorithm.learning_rate == 7.5e-05
    assert experiment.algorithm.epochs == 5
    assert experiment.rosters == paper("spread", "mappo").rosters


@pytest.mark.parametrize("method", Q_METHODS + OFF_POLICY_METHODS)
def test_a_preset_of_mappo_gives_what_learns_from_a_replay_its_actor_and_nothing_of_ppo(mappo_file, method):
    usual = paper("spread", method)
    experiment = read_preset(mappo_file).applied(usual, "here")
    assert experiment.actor.widths == (64, 64)
    assert (experiment.algorithm, experiment.critic) == (usual.algorithm, usual.critic)


@pytest.mark.parametrize("method", sorted(set(PPO_METHODS) - {"ippo", "mappo"}))
def test_all_that_is_chained_from_mappo_inherits_its_actor_and_ppo_but_not_its_critic(mappo_file, method):
    experiment = read_preset(mappo_file).applied(paper("spread", method), "here")
    assert experiment.algorithm.epochs == 4
    assert experiment.actor.widths == (64, 64)
    assert experiment.recipe.batch_unit == "team_steps"
    assert experiment.critic == paper("spread", method).critic
    assert experiment.distillation == paper("spread", method).distillation


def test_the_ablations_inherit_all_of_pc3d_but_a_mappo_never_distils(pc3d_file):
    made = read_preset(pc3d_file)
    assert made.applied(paper("spread", "gate-off"), "here").distillation.weight == 0.5
    without = made.applied(paper("spread", "a-mappo"), "here")
    assert without.critic.tokens == 7
    assert without.distillation.reliance_max == 1.0
    assert without.distillation.weight == 0.0


@pytest.mark.parametrize("method", ["ippo", "mappo", "pic"])
def test_a_method_that_inherits_nothing_from_pc3d_refuses_its_preset(pc3d_file, method):
    assert f"{method} inherits nothing from it" in refusal("spread", method, pc3d_file)


def test_another_task_refuses_the_preset(mappo_file):
    assert "is a preset for spread, not for lbf" in refusal("lbf", "mappo", mappo_file)


HEAD = 'task = "spread"\nmethod = "mappo"\n'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[[", "not a valid preset file"),
        (HEAD + f"x = {'[' * 5000}", "not a valid preset file"),
        (HEAD + "x = 1" + "0" * 5000, "not a valid preset file"),
        (b"\xff\xfe", "not a valid preset file"),
        (HEAD + "#" * LARGEST_FILE, "larger than 64 KiB"),
        ('method = "mappo"\n', 'does not say its task: add a line such as task = "spread"'),
        ('task = "spread"\n', 'does not say its method: add a line such as method = "pc3d"'),
        ('task = "spread"\nmethod = ""\n', "does not say its method"),
        ('task = "spread"\nmethod = "mapo"\n', "perhaps you meant mappo"),
        ('task = "sprad"\nmethod = "mappo"\n', "perhaps you meant spread"),
        (HEAD + "[ppo]\nepoch = 3\n", "perhaps you meant epochs"),
        (HEAD + "[pppo]\nepochs = 3\n", "perhaps you meant ppo"),
        (HEAD + "[ppo]\nepochs = 0\n", "ppo.epochs must be from 1"),
        (HEAD + "[ppo]\nepochs = true\n", "must be a whole number"),
        (HEAD + "[ppo]\nlearning_rate = nan\n", "finite"),
        (HEAD + "[ppo]\nlearning_rate = inf\n", "finite"),
        (HEAD + "[ppo]\nlearning_rate = 1" + "0" * 400 + "\n", "finite"),
        (HEAD + "[ppo]\nlearning_rate = \"__import__('os')\"\n", "must be a number"),
        (HEAD + "ppo = 3\n", "must be a table"),
        (HEAD + "[actor]\nwidths = []\n", "at least one layer"),
        (HEAD + "[found]\ntrials = 3\n", "lacks"),
        (HEAD + "[rosters]\ntest = [3]\n", "no entry in"),
        (HEAD + "[curriculum]\nstages = []\n", "no entry in"),
        (HEAD + "episodes = 5\n", "no entry in"),
    ],
)
def test_a_bad_preset_file_is_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "bad.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = refusal("spread", "mappo", path)
    assert sentence in said
    assert str(path) in said
    assert "\n" not in said


def test_a_preset_that_is_not_there_is_one_sentence(tmp_path):
    assert "no.toml" in refusal("spread", "mappo", tmp_path / "no.toml")
    assert "perhaps you meant paper" in refusal("spread", "mappo", "papr")


STUDY = """
about = "One group."
[[groups]]
tasks = ["spread"]
methods = ["mappo", "pc3d"]
seeds = [0]
preset = "mappo.toml"
"""


def test_a_study_names_a_preset_file_beside_it(mappo_file, monkeypatch, tmp_path):
    (mappo_file.parent / "study.toml").write_text(STUDY)
    study = load_study(str(mappo_file.parent / "study.toml"))
    job = study.jobs(tmp_path)[0]
    assert parse(job.train_words[1:]).experiment.algorithm.epochs == 4
    monkeypatch.chdir(mappo_file.parent)
    assert load_study("study.toml").jobs(tmp_path)[0].options[:2] == ("--preset", "mappo.toml")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("mappo.toml", "none.toml", "cannot be read"),
        ('"spread"', '"lbf"', "not for lbf"),
        ('"pc3d"', '"ippo"', "ippo inherits nothing"),
    ],
)
def test_a_study_whose_preset_does_not_fit_is_refused_before_it_begins(mappo_file, old, new, sentence):
    (mappo_file.parent / "study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(BadInput, match=sentence):
        load_study(str(mappo_file.parent / "study.toml"))
