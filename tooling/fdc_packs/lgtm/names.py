"""The names of artifacts and of what is in them (LGTM-02, 10, 16). Pure."""

from __future__ import annotations

import re

AREA = re.compile(r"A_[A-Za-z0-9]{1,40}\Z")
HYPOTHESIS = re.compile(r"h_[A-Za-z0-9]{1,40}_\d{3}\Z")
FILE = re.compile(
    r"hypotheses/hyp_h_[A-Za-z0-9]{1,40}_\d{3}_v\d+_(?:initial|refined|candidate)\.json\Z"
)
KNOWLEDGE = re.compile(r"knowledge/k_[A-Za-z0-9_]+_evidence\.md\Z")
CHALLENGE = re.compile(r"null_challenges/nc_h_[A-Za-z0-9]{1,40}_\d{3}_challenge\.json\Z|-\Z")
NONE = "-"
"""What stands for the file of a challenge that was not made."""
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")


def generate_file_name(kind: str, id: str, description: str, extension: str) -> str:
    """`kind_id_description.extension`. Raises ValueError for a part that is empty, or that could leave the folder."""
    for part in (kind, id, description, extension):
        if not _PART.match(part) or ".." in part:
            raise ValueError(f"`{part[:60]}` cannot be part of a file name")
    return f"{kind}_{id}_{description}.{extension}"


def hypothesis_id(area: str, number: int) -> str:
    """`h_<Area>_<NNN>`."""
    return f"h_{area.removeprefix('A_')}_{number:03d}"


def hypothesis_path(id: str, version: int, description: str) -> str:
    """Where a version of a hypothesis lies, from the run folder (LGTM-04)."""
    return "hypotheses/" + generate_file_name("hyp", f"{id}_v{version}", description, "json")
