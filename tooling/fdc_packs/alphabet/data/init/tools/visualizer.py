"""What `fdc alphabet report` does, for a reader who looks for it here."""

import subprocess
import sys

raise SystemExit(subprocess.run(["fdc", "alphabet", "report", *sys.argv[1:]]).returncode)
