"""`python -m hyperboxes` is the command `hyperboxes`."""

import sys

from hyperboxes._cli import main

if __name__ == "__main__":
    sys.exit(main())
