"""`python -m hostwire.warehouse` is `hostwire-warehouse`."""

import sys

from ._command import main

sys.exit(main())
