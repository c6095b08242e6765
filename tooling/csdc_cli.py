"""Check a plan against CSDC model A or B, and against a stated complexity class.

    python3 tooling/csdc_cli.py PLAN --model A [--complexity P]

Model A permits `define_set_of_names` and forbids `define_diagonalization_function`, model B the
reverse; both in one plan are refused in either.
"""

from fdc_toolchain.cli.plan.csdc import main, validate_plan_for_model

__all__ = ["main", "validate_plan_for_model"]

if __name__ == "__main__":
    raise SystemExit(main())
