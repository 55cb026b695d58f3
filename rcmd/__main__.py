"""``python -m rcmd``."""

import sys

from rcmd.cli import main

sys.exit(main())
