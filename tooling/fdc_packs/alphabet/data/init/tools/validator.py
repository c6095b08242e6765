"""What `fdc alphabet check` does, for a reader who looks for it here."""

import subprocess
import sys

raise SystemExit(subprocess.run(["fdc", "alphabet", "check", *sys.argv[1:]]).returncode)
