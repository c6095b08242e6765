"""Reads the lessons of a post-mortem and puts them on record, pending, in `knowledge_core/lessons.jsonl`.

    python3 tooling/knowledge_compiler.py postmortems/DATE-TASK.md

A lesson is a `**Lesson:**` with its `**Action:**`, a row of a table with these columns, or JSON in a
code block, below a heading that speaks of lessons or corrective actions. What is on record already
is not added again.
"""

from fdc_toolchain.cli.scripts.knowledge_compiler import (
    extract_lessons_from_postmortem,
    extract_metadata_from_postmortem,
    main,
    parse_action_to_command,
)

__all__ = [
    "extract_lessons_from_postmortem",
    "extract_metadata_from_postmortem",
    "main",
    "parse_action_to_command",
]

if __name__ == "__main__":
    raise SystemExit(main())
