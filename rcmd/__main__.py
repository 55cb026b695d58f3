"""``python -m rcmd``."""

import sys

from rcmd.cli.main import main

sys.exit(main())
