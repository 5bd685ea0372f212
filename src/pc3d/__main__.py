"""`python -m pc3d`, the same as `pc3d`."""

import sys

from pc3d.cli import process

sys.exit(process())
