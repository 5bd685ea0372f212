"""The methods: each is a row of one table over one backbone, never a copied file.

A new method is one row. What its row names is found in `networks` (critics, conditionings) and in `learners`.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from pc3d.experiment.actor_critic_settings import MaddpgSettings, MasacSettings, Matd3Settings
from pc3d.experiment.algorithm_settings import AlgorithmSettings
from pc3d.experiment.copa_settings import CopaSettings
from pc3d.experiment.ctds_settings import CtdsSettings
from pc3d.experiment.entity_settings import EntityQSettings, RefilSettings
from pc3d.experiment.execution import ALONE, BY_SPLIT, COACHED, IN_SIGHT, AnyMessages, Execution, needs
from pc3d.experiment.graph_settings import GraphSettings
from pc3d.experiment.happo_settings import HappoSettings
from pc3d.experiment.mipi_settings import MipiSettings
from pc3d.experiment.ppo_settings import PpoSettings
from pc3d.experiment.ptde_settings import PtdeSettings
from pc3d.experiment.q_learning_settings import QLearningSettings
from pc3d.experiment.sog_settings import SogSettings
from pc3d.system.errors import BadInput, refuse_unknown
from pc3d.system.imports import is_import_path

Line = Literal["-", "--", "-.", ":"]
GateMode = Literal["adaptive", "off", "on"]
WITHOUT_CONTEXT = "plain"  # the conditioning of a method that has none


@dataclass(frozen=True)
class Method:
    """What a method has; everything else is the same for all."""

    title: str
    """As reports call it."""
    summary: str
    color: str
    """In figures: Okabe and Ito's, told apart by people with any kind of colour vision; yellow darkened."""
    line: Line = "-"
    """In figures."""
    parent: str | None = None
    """The method whose settings it inherits (the paper's parameter chaining)."""
    algorithm: type[AlgorithmSettings] = PpoSettings
    """What it learns by; the settings' class names the learner."""
    critic: str = "joint"
    """The central module, by its name in `networks.critics`, `mixers` or `action_critics`."""
    conditioning: str = WITHOUT_CONTEXT
    """How the actor uses its context, by its name in `networks.conditioning`."""
    gate: GateMode = "adaptive"
    backbone: str | None = None
    """What it is without PC3D's critic, context and distillation, for those that are PC3D on a learner."""
    distils: bool = False
    """Whether the student's context learns from the teacher's."""
    execution: Execution = ALONE
    """What its team may see when it acts."""

    @property
    def has_context(self) -> bool:
        return self.conditioning != WITHOUT_CONTEXT


# What PC3D has, and with it all that differ from PC3D in one part.
like_pc3d = partial(Method, parent="pc3d", critic="tokens", conditioning="film", distils=True)
# What learns the values of actions; its actor and what it sees of the team are those of the parent.
factored = partial(Method, parent="mappo", algorithm=QLearningSettings)
# What learns from a replay by critics of actions.
off_policy = partial(Method, parent="mappo", critic="joint-action")
METHODS = {
    "ippo": Method("IPPO", "independent learners with a local value", "#CC79A7", ":", critic="local"),
    "mappo": Method("MAPPO", "the backbone: a critic over all observations, padded", "#E69F00", "--"),
    "pic": Method(
        "PIC-MAPPO", "PIC-MAPPO: a critic over the mean of encodings", "#009E73", "-.", "mappo", critic="mean"
    ),
    "pc3d": like_pc3d(
        "PC3D-MAPPO", "tokens, distilled contexts, gated FiLM", "#0072B2", parent="mappo", backbone="mappo"
    ),
    "gate-off": like_pc3d(
        "Always Off Gate", "ablation: context distilled, never used", "#56B4E9", "--", gate="off"
    ),
    "gate-on": like_pc3d(
        "Always On Gate", "ablation: context always used in full", "#D55E00", "-.", gate="on"
    ),
    "a-mappo": like_pc3d("A-MAPPO", "ablation: no distillation", "#999999", ":", distils=False),
    "hyper-pc3d": like_pc3d(
        "Hyper-PC3D-MAPPO", "the context changes the policy head", "#B5A300", conditioning="hypernetwork"
    ),
    "vdn": factored(
        "VDN", "the team's value is the mean of utilities", "#882255", ":", critic="mean-utility"
    ),
    "qmix": factored(
        "QMIX",
        "utilities mixed by weights from all observations, padded",
        "#44AA99",
        "--",
        critic="joint-mixer",
    ),
    "qmix-pic": factored(
        "PIC-QMIX", "weights from the mean of encodings", "#117733", "-.", parent="pic", critic="mean-mixer"
    ),
    "pc3d-qmix": like_pc3d(
        *("PC3D-QMIX", "weights from tokens, distilled contexts, gated FiLM", "#332288"),
        critic="token-mixer",
        backbone="qmix",
        algorithm=QLearningSettings,
    ),
    "happo": Method(
        "HAPPO", "MAPPO whose agents learn in turns", "#C9A227", "--", "mappo", algorithm=HappoSettings
    ),
    "pc3d-happo": like_pc3d(
        "PC3D-HAPPO", "PC3D whose agents learn in turns", "#7A4B00", algorithm=HappoSettings, backbone="happo"
    ),
    "graph": Method(
        *("Graph-MAPPO", "MAPPO whose agents send messages to those who see them", "#4477AA", "-.", "mappo"),
        algorithm=GraphSettings,
        execution=IN_SIGHT,
    ),
    "maddpg": off_policy(
        *("MADDPG", "a critic over all observations and actions, padded; actors climb it", "#CC6677", "--"),
        algorithm=MaddpgSettings,
    ),
    "matd3": off_policy(
        *("MATD3", "MADDPG with twin critics, smoothed targets and a slower actor", "#999933", "--"),
        algorithm=Matd3Settings,
    ),
    "masac": off_policy(
        *("MASAC", "twin critics of each agent's alternatives; entropy is held", "#AA4499", "--"),
        algorithm=MasacSettings,
        critic="joint-alternatives",
    ),
    "pc3d-maddpg": like_pc3d(
        *("PC3D-MADDPG", "a critic over tokens and actions, distilled contexts, gated FiLM", "#661100"),
        algorithm=MaddpgSettings,
        backbone="maddpg",
        critic="token-action",
    ),
    "pc3d-matd3": like_pc3d(
        *("PC3D-MATD3", "the same with MATD3's critics, targets and actor", "#4D4D0F"),
        algorithm=Matd3Settings,
        backbone="matd3",
        critic="token-action",
    ),
    "pc3d-masac": like_pc3d(
        *("PC3D-MASAC", "alternatives from tokens, distilled contexts, gated FiLM", "#6A1B6A"),
        algorithm=MasacSettings,
        backbone="masac",
        critic="token-alternatives",
    ),
    "ptde": Method(
        *("PTDE-MAPPO", "personal information of the team, then a student of it", "#8C510A", "-.", "mappo"),
        algorithm=PtdeSettings,
    ),
    "ctds": Method(
        *(
            "CTDS",
            "QMIX with the whole team in view, and a student of its values",
            "#01665E",
            "-.",
            "qmix-pic",
        ),
        algorithm=CtdsSettings,
        critic="mean-mixer",
    ),
    "a-qmix": Method(
        *("A-QMIX", "QMIX whose utilities and mixer attend to entities", "#5E4FA2", "-.", "qmix"),
        algorithm=EntityQSettings,
        critic="entity-mixer",
    ),
    "refil": Method(
        *("REFIL", "A-QMIX that also imagines what random groups are worth", "#9E0142", "-.", "a-qmix"),
        algorithm=RefilSettings,
        critic="entity-mixer",
    ),
    "sog": Method(
        *("SOG", "REFIL whose agents gather around conductors and tell them something", "#404040", ":"),
        parent="refil",
        algorithm=SogSettings,
        critic="entity-mixer",
        execution=IN_SIGHT,
    ),
    "copa": Method(
        *("COPA", "A-QMIX with a coach that sees everything and speaks now and then", "#E7298A", "--"),
        parent="a-qmix",
        algorithm=CopaSettings,
        critic="coach-mixer",
        execution=COACHED,
    ),
    "mipi": Method(
        *(
            "MIPI-style",
            "PIC-QMIX that pays for acting on what is seen of teammates",
            "#3333EE",
            "-.",
            "qmix-pic",
        ),
        algorithm=MipiSettings,
        critic="mean-mixer",
        execution=BY_SPLIT,
    ),
}
OURS = "pc3d"  # the method that all others are compared with


def method_named(name: str) -> Method:
    """The method of that name, or a sentence that names the ones there are."""
    if is_import_path(name) and name not in METHODS:
        raise BadInput(
            f"{name} is a method of somebody's own, and no file may make pc3d run that code: "
            f"if you trust it, name it with --method {name}"
        )
    refuse_unknown("method", name, METHODS)
    return METHODS[name]


def execution_of(method: str, messages: AnyMessages | None) -> Execution:
    """What a team of this method may see when it acts, and says so much: of its kind, but silent, nothing."""
    execution = method_named(method).execution
    silent = messages is None and (execution.by_sight or execution.coached)
    return ALONE if silent else execution


def needs_of(method: str, messages: AnyMessages | None) -> str:
    """The same in words."""
    return needs(execution_of(method, messages), messages)


def ancestors(method: str) -> tuple[str, ...]:
    """The methods whose settings this one inherits, the nearest first."""
    parent = method_named(method).parent
    return () if parent is None else (parent, *ancestors(parent))


def family(method: str) -> tuple[str, ...]:
    """The method and all that inherit from it."""
    return tuple(name for name in METHODS if name == method or method in ancestors(name))


def algorithms() -> dict[str, type[AlgorithmSettings]]:
    """What methods learn by, by name."""
    return {method.algorithm.section: method.algorithm for method in METHODS.values()}
