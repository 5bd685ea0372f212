"""The paper's tables for level-based foraging: team sizes, curriculum, budget and hyperparameters."""

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.settings import ActorSettings, CriticSettings, DistillationSettings, PpoSettings, Recipe
from pc3d.tasks.entry import Paper, TableColumn

IPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=1.22e-3,
        batch_size=128,
        buffer_size=8192,
        update_every_episodes=16,
        epochs=6,
        clip=0.25,
        discount=0.99,
        gae_lambda=0.95,
        entropy_coefficient=8.24e-3,
        value_coefficient=0.25,
        max_gradient_norm=5.0,
    ),
    actor=ActorSettings(widths=(128, 256, 128), rnn_dim=64),
)
MAPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=4.63e-4,
        batch_size=256,
        buffer_size=200_000,
        update_every_episodes=2,
        epochs=8,
        clip=0.25,
        discount=0.985,
        gae_lambda=0.93,
        entropy_coefficient=1.11e-2,
        value_coefficient=2.0,
        max_gradient_norm=5.0,
    ),
    actor=ActorSettings(widths=(64, 64), rnn_dim=128),
    critic=CriticSettings(widths=(160, 160)),
)
PIC = MAPPO.chained(
    CriticSettings(
        widths=(160, 128),
        set_embed_dim=96,
        set_encoder_widths=(96, 64),
        team_size_feature=True,
    )
)
PC3D = MAPPO.chained(
    CriticSettings(
        widths=(160, 128),
        set_embed_dim=48,
        set_encoder_widths=(160, 96),
        team_size_feature=True,
        tokens=4,
    ),
    DistillationSettings(
        weight=0.0193,
        teacher_rate=0.0025,
        reliance_min=-2.0,
        reliance_max=1.5,
    ),
)
PAPER = Paper(
    rosters=Rosters(train=(2, 4, 6), validation=(3, 5), test=(7, 8)),
    curriculum=Curriculum(
        (
            Stage(0.2, team_sizes=(2,), probabilities=(1.0,)),
            Stage(0.25, team_sizes=(2, 4), probabilities=(0.35, 0.65)),
            Stage(0.25, team_sizes=(2, 4, 6), probabilities=(0.15, 0.25, 0.6)),
            Stage(0.3, team_sizes=(2, 4, 6), probabilities=(0.1, 0.2, 0.7)),
        )
    ),
    episodes=12_000,
    printed={"ippo": IPPO, "mappo": MAPPO, "pic": PIC, "pc3d": PC3D},
    recipe=Recipe(environments=8),
)
