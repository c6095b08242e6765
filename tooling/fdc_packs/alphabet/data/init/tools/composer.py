"""What `fdc alphabet compose` does, for a reader who looks for it here."""

import subprocess
import sys

raise SystemExit(subprocess.run(["fdc", "alphabet", "compose", *sys.argv[1:]]).returncode)
