"""How tests look at every shape that a type promises; a whole number counts as a number, NumPy's as well."""

import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype

WHOLE_NUMBERS = FrozenDict({int: int | np.integer})
checked = beartype(conf=BeartypeConf(is_pep484_tower=True, hint_overrides=WHOLE_NUMBERS))
