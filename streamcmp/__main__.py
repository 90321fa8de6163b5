"""`python -m streamcmp`."""

import sys

from streamcmp.cli import main

if __name__ == "__main__":
    sys.exit(main())
