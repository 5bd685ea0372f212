"""A task's split of its views: which numbers tell of teammates (s⁻), so that all others are s⁺.

A designer knows, and has to say so; no other view can be told apart in this way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pc3d.tasks.arrays import AnyArray

Numbers = tuple[int, ...]  # places in a view, counted from 0


@dataclass(frozen=True)
class Split:
    """Places for teammates, each with the numbers of the view that tell of whoever is there."""

    width: int
    """How many numbers the whole view has."""
    places: tuple[Numbers, ...]
    nobody: tuple[tuple[int, float], ...] = ()
    """What those numbers are where nobody is that are not zero then."""
    nearest_first: bool = False
    """Whether teammates stand in order, without gaps: where one is left out, the next ones close up."""

    @staticmethod
    def at_end(first: int, places: int, each: int, *, nearest_first: bool = False) -> Split:
        """Of a view that ends with one place after another, from this number on."""
        starts = range(first, first + places * each, each)
        numbers = tuple(tuple(range(start, start + each)) for start in starts)
        return Split(first + places * each, numbers, nearest_first=nearest_first)

    def with_more(self, numbers: int, of_places: int) -> Split:
        """The same of a view that ends with so many numbers more, place by place of the first ones."""
        each, rest = divmod(numbers, of_places)
        assert rest == 0, "every place tells equally much"
        starts = [self.width + place * each for place in range(of_places)]
        more = [tuple(range(start, start + each)) for start in starts]
        more += [()] * (len(self.places) - of_places)
        places = tuple(one + other for one, other in zip(self.places, more, strict=True))
        return replace(self, width=self.width + numbers, places=places)

    @cached_property
    def of_teammates(self) -> Bool[np.ndarray, " number"]:
        """Which numbers are s⁻."""
        return self._place_of >= 0

    def own(self, views: Float[AnyArray, "... number"]) -> Float[Array, "... number"]:
        """s⁺: zeros where the view tells of teammates."""
        return jnp.where(self.of_teammates, 0, views)

    def with_only(
        self, views: Float[AnyArray, "... number"], kept: Bool[AnyArray, "... place"]
    ) -> Float[Array, "... number"]:
        """What would be seen if of the teammates in these views only some were there."""
        arrays = jnp.asarray(views), jnp.asarray(kept)
        return self._closed_up(*arrays) if self.nearest_first else self._emptied(*arrays)

    def _closed_up(self, views: Array, kept: Array) -> Array:
        numbers = np.array(self.places)
        moved_to = jnp.cumsum(kept, axis=-1) - 1
        moves = kept[..., None] & (moved_to[..., None] == np.arange(len(numbers)))
        moved = jnp.einsum("...od,...ow->...dw", moves.astype(views.dtype), views[..., numbers])
        flat = moved.reshape(*moved.shape[:-2], -1)
        where_in_flat = np.zeros(self.width, int)
        where_in_flat[numbers.ravel()] = np.arange(numbers.size)
        return jnp.where(self.of_teammates, flat[..., where_in_flat], views)

    def _emptied(self, views: Array, kept: Array) -> Array:
        """Where there is nothing but zeros nobody can be seen: that is left as it is."""
        belongs = self._place_of[:, None] == np.arange(len(self.places))
        told = (views != 0).astype(views.dtype) @ belongs.astype(views.dtype) > 0
        gone = (told & ~kept)[..., np.maximum(self._place_of, 0)] & self.of_teammates
        return jnp.where(gone, self._nobody, views)

    @cached_property
    def _place_of(self) -> Int[np.ndarray, " number"]:
        """The place that each number tells of; -1 for s⁺."""
        found = np.full(self.width, -1)
        for place, numbers in enumerate(self.places):
            found[list(numbers)] = place
        return found

    @cached_property
    def _nobody(self) -> Float[np.ndarray, " number"]:
        found = np.zeros(self.width, np.float32)
        for number, value in self.nobody:
            found[number] = value
        return found


def without_split(task: str) -> str:
    """What is said of a task that does not offer one."""
    return (
        f"{task} does not say which numbers of a view tell of teammates: a task compiled with pc3d can, by a "
        "`split` (docs/extending.md)"
    )
