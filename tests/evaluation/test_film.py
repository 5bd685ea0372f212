"""What a task may draw, and the sentences for all else."""

import numpy as np
import pytest
from PIL import Image

from pc3d.evaluation.film import as_picture
from pc3d.system.errors import BadInput

BYTES = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize("drawn", [BYTES, Image.fromarray(BYTES)])
def test_a_picture_is_an_array_or_what_becomes_one(drawn):
    assert np.array_equal(as_picture(drawn, "tags:Ring"), BYTES)


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (None, "not a NoneType"),
        (BYTES.astype(float), r"not an array of float64 with shape \(2, 4, 3\)"),
        (BYTES[..., 0], r"not an array of uint8 with shape \(2, 4\)"),
        (BYTES[:0], r"with shape \(0, 4, 3\)"),
        (Image.fromarray(BYTES).convert("RGBA"), r"with shape \(2, 4, 4\)"),
        ([[1, 2], [3]], "not a list"),
    ],
)
def test_what_is_no_picture_is_one_sentence(drawn, words):
    with pytest.raises(BadInput, match=f"draw of tags:Ring must give a picture of rows.*{words}"):
        as_picture(drawn, "tags:Ring")
