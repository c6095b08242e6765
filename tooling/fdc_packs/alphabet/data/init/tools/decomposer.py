"""What `fdc alphabet decompose` does, for a reader who looks for it here."""

import subprocess
import sys

raise SystemExit(subprocess.run(["fdc", "alphabet", "decompose", *sys.argv[1:]]).returncode)
