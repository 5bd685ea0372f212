"""The paper's tables for RWARE: team sizes, curriculum, budget and hyperparameters."""

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.settings import ActorSettings, CriticSettings, DistillationSettings, PpoSettings, Recipe
from pc3d.tasks.entry import Paper, TableColumn

IPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=2.06e-4,
        batch_size=64,
        buffer_size=8192,
        update_every_episodes=8,
        epochs=8,
        clip=0.1,
        discount=0.97,
        gae_lambda=0.97,
        entropy_coefficient=2.49e-3,
        value_coefficient=0.25,
        max_gradient_norm=1.0,
    ),
    actor=ActorSettings(widths=(96, 128, 128, 96), rnn_dim=192),
)
MAPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=1.24e-4,
        batch_size=64,
        buffer_size=200_000,
        update_every_episodes=1,
        epochs=6,
        clip=0.25,
        discount=0.99,
        gae_lambda=0.97,
        entropy_coefficient=2.34e-4,
        value_coefficient=0.5,
        max_gradient_norm=10.0,
    ),
    actor=ActorSettings(widths=(128, 256, 128), rnn_dim=32),
    critic=CriticSettings(widths=(128, 96)),
)
PIC = MAPPO.chained(
    CriticSettings(
        widths=(96, 96),
        set_embed_dim=160,
        set_encoder_widths=(48, 48),
        team_size_feature=True,
    )
)
PC3D = MAPPO.chained(
    CriticSettings(
        widths=(96, 96),
        set_embed_dim=96,
        set_encoder_widths=(96, 96),
        team_size_feature=False,
        tokens=5,
    ),
    DistillationSettings(
        weight=0.0154,
        teacher_rate=0.0025,
        reliance_min=-3.0,
        reliance_max=2.0,
    ),
)
PAPER = Paper(
    rosters=Rosters(train=(2, 4, 6, 8), validation=(3, 5, 7), test=(9, 10)),
    curriculum=Curriculum(
        (
            Stage(0.2, team_sizes=(2, 4), probabilities=(0.65, 0.35)),
            Stage(0.25, team_sizes=(2, 4, 6), probabilities=(0.3, 0.2, 0.5)),
            Stage(0.25, team_sizes=(2, 4, 6, 8), probabilities=(0.1, 0.15, 0.25, 0.5)),
            Stage(0.3, team_sizes=(2, 4, 6, 8), probabilities=(0.05, 0.1, 0.2, 0.65)),
        )
    ),
    episodes=20_000,
    printed={"ippo": IPPO, "mappo": MAPPO, "pic": PIC, "pc3d": PC3D},
    recipe=Recipe(advantage_deviation="running", environments=8, batch_unit="team_steps"),
)
