"""Permissions of a person for a run: approvals, and changes of protected files."""
