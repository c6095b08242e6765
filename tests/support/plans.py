"""Plan texts that several tests start from."""

from __future__ import annotations

CLEAN = """\
# FSM: tooling/fdc_fsm.json

set_plan Read the tea page
plan_step_complete orientation
read_file docs/tea.md
close_task
submit
"""
"""Proved without a finding, wherever `docs/tea.md` exists."""
