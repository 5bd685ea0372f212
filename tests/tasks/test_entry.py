"""A task's paper.toml is read strictly, and methods inherit from each other what it does not print."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pc3d.experiment.methods import METHODS
from pc3d.experiment.network_settings import DistillationSettings
from pc3d.presets.paper import paper
from pc3d.system.errors import BadInput
from pc3d.tasks import spread
from pc3d.tasks.entry import read_paper

SPREAD = Path(spread.__file__).with_name("paper.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("episodes = 20_000", "episodes = 20_000\nepochs = 3", "no setting .* called 'epochs'"),
        ("episodes = 20_000", "", "lacks episodes"),
        ("[recipe]\nenvironments = 8", "[recipe]\nenvironments = 0", "recipe.environments must be from 1"),
        ("[printed.mappo.", "[printed.ippo2.", "lacks the table printed.mappo"),
        ("[printed.pic.", "[printed.pik.", "no method called 'pik': perhaps you meant pic"),
        ("[printed.pic.critic]", "[printed.pic.critics]", "no setting .* called 'critics'"),
        ("rnn_dim = 128", "rnn_dim = true", "rnn_dim must be a whole number"),
    ],
)
def test_what_is_wrong_in_it_is_a_sentence(tmp_path, old, new, sentence):
    assert old in SPREAD
    path = tmp_path / "paper.toml"
    path.write_text(SPREAD.replace(old, new))
    with pytest.raises(BadInput, match=re.compile(sentence)):
        read_paper(path)


def test_a_context_whose_ancestors_print_no_distillation_has_the_usual_one(monkeypatch):
    row = replace(METHODS["pic"], parent="pic", conditioning="film")
    monkeypatch.setitem(METHODS, "mine", row)
    made = paper("spread", "mine")
    assert made.distillation == DistillationSettings()
    assert made.critic == paper("spread", "pic").critic
