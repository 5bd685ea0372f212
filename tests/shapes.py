"""How tests look at every shape that a type promises; a whole number counts as a number."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
