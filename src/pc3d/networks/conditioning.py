"""From recurrent features to action logits: plainly, or shaped by the agent's own estimate of its context.

Equations 2 and 3 of the paper (student context, reliance, gate, FiLM) and, for Hyper-PC3D, its appendix.
"""

import abc
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from pc3d.experiment.methods import WITHOUT_CONTEXT, GateMode
from pc3d.experiment.network_settings import DistillationSettings
from pc3d.experiment.recipe import Recipe
from pc3d.networks.layers import Dense, Mlp

POLICY_GAIN = 0.01  # a nearly uniform first policy
VALUE_GAIN = 1.0  # values of actions have a scale of their own
MODULATION_GAIN = 0.1  # a nearly unconditioned one


@dataclass(frozen=True)
class HeadShape:
    """From how many features to how many actions (or numbers of one), and how large the first weights are."""

    features: int
    actions: int
    gain: float = POLICY_GAIN

    def linear(self, key: PRNGKeyArray) -> Dense:
        return Dense(key, self.features, self.actions, self.gain)


class PolicyOutput(eqx.Module):
    """What the actor says at one moment; context and gate are None where a method has none."""

    logits: Float[Array, "... action"]
    """Or, of an actor that values actions, what each is worth; or, of one that says numbers, their means
    before they are squashed."""
    context: Float[Array, "... context"] | None = None
    gate: Float[Array, "..."] | None = None


class Conditioning(eqx.Module):
    """The last part of the actor."""

    @abc.abstractmethod
    def __init__(self, key: PRNGKeyArray, shape: HeadShape) -> None: ...

    @abc.abstractmethod
    def __call__(self, features: Float[Array, "... feature"]) -> PolicyOutput: ...


class PlainHead(Conditioning):
    """No context: a linear policy head."""

    head: Dense

    def __init__(self, key: PRNGKeyArray, shape: HeadShape) -> None:
        self.head = shape.linear(key)

    def __call__(self, features: Float[Array, "... feature"]) -> PolicyOutput:
        return PolicyOutput(self.head(features))


class StudentContext(eqx.Module):
    """The context and the gate an agent makes from its own features."""

    to_context: Dense
    to_reliance: Dense
    gate_scale: Float[Array, ""]
    gate_offset: Float[Array, ""]
    reliance_min: float = eqx.field(static=True)
    reliance_max: float = eqx.field(static=True)
    recipe: Recipe = eqx.field(static=True)
    mode: GateMode = eqx.field(static=True)
    apart: bool = eqx.field(static=True)

    def __init__(
        self,
        key: PRNGKeyArray,
        features: int,
        context: int,
        mode: GateMode,
        distillation: DistillationSettings,
        recipe: Recipe,
        apart: bool = False,
    ) -> None:
        context_key, reliance_key = jax.random.split(key)
        self.to_context = Dense(context_key, features, context)
        self.to_reliance = Dense(reliance_key, features, 1, POLICY_GAIN)
        self.gate_scale, self.gate_offset = jnp.asarray(recipe.gate_scale), jnp.asarray(recipe.gate_offset)
        self.reliance_min, self.reliance_max = distillation.reliance_min, distillation.reliance_max
        self.recipe, self.mode, self.apart = recipe, mode, apart

    def context(self, features: Float[Array, "... feature"]) -> Float[Array, "... context"]:
        """ĉ = W_c h + b_c."""
        return self.to_context(features)

    def for_policy(self, context: Float[Array, "... context"]) -> Float[Array, "... context"]:
        """The context as the policy path sees it; the paper does not say whether gradients flow back."""
        return context if self.recipe.policy_gradient_reaches_context else jax.lax.stop_gradient(context)

    def gate(self, features: Float[Array, "... feature"]) -> Float[Array, "..."]:
        """g = σ(a_g ρ + b_g) with ρ = clip(w_u h + b_u), or a constant for the ablations."""
        if self.mode != "adaptive":
            return jnp.full(features.shape[:-1], 1.0 if self.mode == "on" else 0.0, features.dtype)
        wish = self.to_reliance(features)[..., 0]
        reliance = jnp.clip(wish, self.reliance_min, self.reliance_max)
        if self.recipe.reliance_gradient == "straight":
            reliance = wish + jax.lax.stop_gradient(reliance - wish)
        scale, offset = self.gate_scale, self.gate_offset
        if not self.recipe.gate_learned:
            scale, offset = jax.lax.stop_gradient((scale, offset))
        return jax.nn.sigmoid(scale * reliance + offset)


class ContextConditioning(Conditioning):
    """A conditioning that uses the student's context."""

    student: StudentContext

    @abc.abstractmethod
    def __init__(self, key: PRNGKeyArray, shape: HeadShape, student: StudentContext) -> None: ...


class GatedFilm(ContextConditioning):
    """PC3D: the context scales and shifts the features, as much as the gate lets it."""

    to_modulation: Dense
    head: Dense

    def __init__(self, key: PRNGKeyArray, shape: HeadShape, student: StudentContext) -> None:
        modulation_key, head_key = jax.random.split(key)
        self.student = student
        context = student.to_context.bias.size
        self.to_modulation = Dense(modulation_key, context, 2 * shape.features, MODULATION_GAIN)
        self.head = shape.linear(head_key)

    def __call__(self, features: Float[Array, "... feature"]) -> PolicyOutput:
        own = self.student.to_context.weight.shape[-2] if self.student.apart else 0
        told = features[..., features.shape[-1] - own :] if own else features
        features = features[..., : features.shape[-1] - own]
        context, gate = self.student.context(told), self.student.gate(told)
        scale, shift = jnp.split(self.to_modulation(self.student.for_policy(context)), 2, axis=-1)
        openness = gate[..., None]
        if self.student.recipe.normalise_features:
            features = jax.nn.standardize(features)
        modulated = features * (1 + openness * scale) + openness * shift
        return PolicyOutput(self.head(modulated), context, gate)


class HyperHead(ContextConditioning):
    """Hyper-PC3D: the context changes the policy head itself, as much as the gate lets it."""

    hypernetwork: Mlp
    head: Dense

    def __init__(self, key: PRNGKeyArray, shape: HeadShape, student: StudentContext) -> None:
        hyper_key, head_key = jax.random.split(key)
        self.student = student
        context, recipe = student.to_context.bias.size, student.recipe
        widths = (context, *recipe.hypernetwork_widths, (shape.features + 1) * shape.actions)
        self.hypernetwork = Mlp(hyper_key, widths, recipe.activation, output_gain=POLICY_GAIN)
        self.head = shape.linear(head_key)

    def __call__(self, features: Float[Array, "... feature"]) -> PolicyOutput:
        context, gate = self.student.context(features), self.student.gate(features)
        change = self.hypernetwork(self.student.for_policy(context))
        change = change.reshape(*features.shape[:-1], features.shape[-1] + 1, -1)
        change_of_logits = jnp.sum(features[..., None] * change[..., :-1, :], axis=-2) + change[..., -1, :]
        return PolicyOutput(self.head(features) + gate[..., None] * change_of_logits, context, gate)


CONDITIONINGS: dict[str, type[Conditioning]] = {
    WITHOUT_CONTEXT: PlainHead,
    "film": GatedFilm,
    "hypernetwork": HyperHead,
}
