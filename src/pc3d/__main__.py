"""`python -m pc3d`, the same as `pc3d`."""

import sys

from pc3d.cli import main

sys.exit(main())
