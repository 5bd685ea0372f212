"""The paper's tables for Simple Spread: team sizes, curriculum, budget and hyperparameters."""

from pc3d.experiment.rosters import Curriculum, Rosters, Stage
from pc3d.experiment.settings import ActorSettings, CriticSettings, DistillationSettings, PpoSettings, Recipe
from pc3d.tasks.entry import Paper, TableColumn

IPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=1.46e-4,
        batch_size=128,
        buffer_size=8192,
        update_every_episodes=2,
        epochs=6,
        clip=0.25,
        discount=0.99,
        gae_lambda=0.99,
        entropy_coefficient=6.61e-4,
        value_coefficient=0.5,
        max_gradient_norm=0.5,
    ),
    actor=ActorSettings(widths=(96, 128, 128, 96), rnn_dim=128),
)
MAPPO = TableColumn(
    algorithm=PpoSettings(
        learning_rate=1.84e-3,
        batch_size=128,
        buffer_size=200_000,
        update_every_episodes=8,
        epochs=8,
        clip=0.15,
        discount=0.985,
        gae_lambda=0.99,
        entropy_coefficient=1.28e-3,
        value_coefficient=0.25,
        max_gradient_norm=2.0,
    ),
    actor=ActorSettings(widths=(128, 256, 128), rnn_dim=128),
    critic=CriticSettings(widths=(128, 96)),
)
PIC = MAPPO.chained(
    CriticSettings(
        widths=(128, 128),
        set_embed_dim=48,
        set_encoder_widths=(160, 96),
        team_size_feature=False,
    )
)
PC3D = MAPPO.chained(
    CriticSettings(
        widths=(192, 160),
        set_embed_dim=48,
        set_encoder_widths=(96, 96),
        team_size_feature=True,
        tokens=4,
    ),
    DistillationSettings(
        weight=0.257,
        teacher_rate=0.02,
        reliance_min=-3.0,
        reliance_max=2.0,
    ),
)
PAPER = Paper(
    rosters=Rosters(train=(1, 2, 4, 6, 8), validation=(3, 5, 7), test=(9, 10)),
    curriculum=Curriculum(
        (
            Stage(0.133, team_sizes=(1, 2), probabilities=(0.4, 0.6)),
            Stage(0.167, team_sizes=(1, 2, 4), probabilities=(0.18, 0.27, 0.55)),
            Stage(0.2, team_sizes=(1, 2, 4, 6), probabilities=(0.1, 0.15, 0.3, 0.45)),
            Stage(0.5, team_sizes=(1, 2, 4, 6, 8), probabilities=(0.06, 0.09, 0.18, 0.27, 0.4)),
        )
    ),
    episodes=20_000,
    printed={"ippo": IPPO, "mappo": MAPPO, "pic": PIC, "pc3d": PC3D},
    recipe=Recipe(environments=8),
)
