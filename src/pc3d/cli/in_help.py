"""What help calls the values of options: by what they are, not by Python's names of types."""

from pathlib import Path
from typing import Annotated

import tyro

Sizes = Annotated[str | None, tyro.conf.arg(metavar="SIZES")]
OwnCode = Annotated[str | None, tyro.conf.arg(metavar="MODULE:NAME")]
OwnCodes = Annotated[tuple[str, ...], tyro.conf.arg(metavar="MODULE:NAME ...")]
Names = Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME ...")]
TaskName = Annotated[str | None, tyro.conf.arg(metavar="TASK")]
Mix = Annotated[str | None, tyro.conf.arg(metavar="MIX|FILE")]
NameOrFile = Annotated[str | None, tyro.conf.arg(metavar="NAME|FILE")]
View = Annotated[str | None, tyro.conf.arg(metavar="none|own|visible")]
Numbers = Annotated[str | None, tyro.conf.arg(metavar="NUMBERS")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]
