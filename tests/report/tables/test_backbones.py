"""What PC3D adds to each learner."""

from pc3d.experiment.methods import METHODS
from pc3d.report.runs import find_runs
from pc3d.report.tables.backbones import backbone_table
from tests.report.made_up import make_run

SIZES = range(2, 9)


def add(root, method, *returns):
    for seed, value in enumerate(returns):
        make_run(root, "lbf", method, seed, {size: [value] for size in SIZES})


def test_a_backbone_is_the_same_learner_without_a_context():
    pairs = {name: row.backbone for name, row in METHODS.items() if row.backbone}
    assert pairs["pc3d"] == "mappo"
    for name, backbone in pairs.items():
        assert METHODS[name].algorithm is METHODS[backbone].algorithm
        assert METHODS[name].distils
        assert not METHODS[backbone].has_context


def test_a_row_has_the_difference_with_both_returns_below(tmp_path):
    for method, returns in {
        "mappo": (0.1,),
        "pc3d": (0.2,),
        "qmix": (0.1, 0.3),
        "pc3d-qmix": (0.3, 0.5),
    }.items():
        add(tmp_path, method, *returns)
    add(tmp_path, "happo", 0.1)  # has no other half
    table = backbone_table(find_runs([tmp_path]), "lbf")
    assert table is not None
    assert table.columns == ("Backbone", "train (2, 4, 6)", "validation (3, 5)", "test (7, 8)")
    assert [row[0].text for row in table.rows] == ["MAPPO", "QMIX"]
    assert (table.rows[0][1].text, table.rows[0][1].note) == ("+10.00", "20.00 (n=1) against 10.00 (n=1)")
    # Welch's t with two degrees of freedom: the error of the difference is √(2 · 200 / 2) = 14.14.
    assert table.rows[1][3].text == "+20.00 [-40.85, +80.85]"
    assert not table.rows[1][3].best


def test_mappo_alone_is_told_elsewhere(tmp_path):
    for method in ("mappo", "pc3d"):
        add(tmp_path, method, 0.1, 0.2)
    assert backbone_table(find_runs([tmp_path]), "lbf") is None
