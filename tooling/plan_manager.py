"""Manages the plan registry `knowledge_core/plan_registry.json`: logical names for reusable plans.

    python3 tooling/plan_manager.py register NAME PATH
    python3 tooling/plan_manager.py deregister NAME
    python3 tooling/plan_manager.py list
    python3 tooling/plan_manager.py audit

`call_plan NAME` looks here before it takes NAME for a path. Change the registry with these
commands only: they refuse dead paths, lose no concurrent change and never leave half a file.
"""

from fdc_toolchain.cli.scripts.plan_manager import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
