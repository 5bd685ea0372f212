"""Worlds that live in worker processes, as the loop of play sees them."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Num, UInt8

from pc3d.play.hosted.attendance import SLOTS_NAME
from pc3d.play.hosted.crew import Crew, WorldFailed
from pc3d.system.errors import BadInput
from pc3d.system.plain import amount
from pc3d.tasks.arrays import AnyArray
from pc3d.tasks.task import Game, Outcome

Views = Float[np.ndarray, "episode agent observation"]
Picture = UInt8[np.ndarray, "row column 3"]


class CrewWorlds:
    """They hold their own states: what stands for one here are the views. After an end the last ones stay."""

    def __init__(self, crew: Crew, game: Game, film: list[Picture] | None = None) -> None:
        self.crew, self.game, self._film = crew, game, film

    def begin(
        self,
        keys: Key[Array, " episode"],
        team_sizes: Int[AnyArray, " episode"],
        following: Bool[AnyArray, "episode agent"] | None = None,
    ) -> Views:
        del following  # who is there is the worlds' own affair
        if self.game.by_entity:
            raise BadInput(
                f"worlds of {self.game.name} on the host do not show entities one by one, which this policy "
                "acts on: only our own do"
            )
        sizes, slots = np.asarray(team_sizes), np.arange(self.game.slots)
        width = self.game.observation_width + self.game.action_space.mask_width
        seen = self.crew.begin(_raw(keys), sizes)
        self._present, self._own = slots < sizes[:, None], slots < self.crew.slots[:, None]
        views = np.zeros((*self._own.shape, width), np.float32)
        if seen.shape[-1] != width:
            masked = self.game.action_space.mask_width
            masks = f", {masked} of them a mask of its actions" if masked else ""
            raise BadInput(
                f"{self.game.name} now shows {seen.shape[-1]} numbers to an agent, but this policy was made "
                f"for {width}{masks}"
            )
        most = int(self.crew.slots.max())
        if most > self.game.slots:
            raise BadInput(
                f"{self.game.name} now has {amount(most, 'slot')} for its agents, but this policy was made "
                f"for {self.game.slots}"
            )
        views[self._own] = seen
        self._take_picture()
        return views

    def present(self, state: Views) -> Any:
        del state
        return self._present

    def observe(self, state: Views) -> Any:
        return state[..., : self.game.observation_width]

    def allowed(self, state: Views) -> Any:
        """Masks come with the views, behind what is seen."""
        return state[..., self.game.observation_width :] > 0 if self.game.action_space.masked else None

    def visible(self, state: Views) -> Any:
        """Their states are elsewhere, and views do not tell."""
        del state
        raise BadInput(
            f"worlds of {self.game.name} on the host do not say who sees whom, and this policy's messages "
            "come from those in sight"
        )

    def step(
        self,
        going: Bool[AnyArray, " episode"],
        keys: Key[Array, " episode"],
        state: Views,
        actions: Num[AnyArray, "episode agent *number"],
        following: Bool[AnyArray, "episode agent"] | None = None,
    ) -> tuple[Views, Outcome]:
        del following
        playing = np.asarray(going)
        stepped = self.crew.step(playing, _raw(keys), np.asarray(actions))
        self._take_picture()
        views = state.copy()
        here = self._own & playing[:, None]
        views[here] = stepped.views
        self._change(here, stepped.present)
        measures = zip(self.game.measure_names, stepped.measures.T, strict=True)
        return views, Outcome(
            reward=_spread_out(playing, stepped.rewards),
            terminated=_spread_out(playing, stepped.terminated),
            truncated=_spread_out(playing, stepped.truncated),
            measures={name: _spread_out(playing, values) for name, values in measures},
        )

    def _change(self, here: Bool[np.ndarray, "episode agent"], present: Bool[np.ndarray, " view"]) -> None:
        """Who is there from now on; a new array, as the one before is still compared with it."""
        before, self._present = self._present, self._present.copy()
        self._present[here] = present
        if not self.game.roster_changes and (before != self._present).any():
            raise WorldFailed(
                f"{self.game.name} let somebody leave or join, and nobody did when it was looked at: give "
                f"the environment the attribute {SLOTS_NAME}, and train anew"
            )

    def _take_picture(self) -> None:
        if self._film is not None:
            self._film.append(self.crew.picture(0))

    def global_state(self, state: Views) -> Any:
        del state
        raise BadInput("worlds on the host have no global state: leave critic.global_state off")


def _raw(keys: Key[Array, " episode"]) -> np.ndarray:
    """The numbers of random keys, which any process can read."""
    return np.asarray(jax.random.key_data(keys))


def _spread_out(going: Bool[np.ndarray, " episode"], values: np.ndarray) -> Any:
    """Values of the going episodes in the places of all; zero or false elsewhere."""
    everywhere = np.zeros(len(going), values.dtype)
    everywhere[going] = values
    return everywhere
