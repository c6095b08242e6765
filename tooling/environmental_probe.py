"""Finds out what the machine lets an agent do, and prints a report for people and agents.

    python3 tooling/environmental_probe.py [--folder DIR] [--network HOST:PORT]

The report has three sections: files (write, read, delete, how long it takes), network (one
connection, nothing is sent) and environment variables. Each line says PASS, WARN or FAIL; a
machine without network is a FAIL line and no error. `fdc start` runs the same probes.
"""

from fdc_toolchain.cli.project.probe import (
    main,
    probe_environment_variables,
    probe_filesystem,
    probe_network,
)

__all__ = ["main", "probe_environment_variables", "probe_filesystem", "probe_network"]

if __name__ == "__main__":
    raise SystemExit(main())
