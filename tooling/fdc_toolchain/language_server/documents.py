"""The texts that editors have open, and the sessions that check them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from pygls import uris
from pygls.workspace import TextDocument, Workspace

from .. import api
from .positions import Lines

LANGUAGE = "fdc-plan"
"""The name of the language in editors."""

_PACK = re.compile(r"^use pack (\S+)\s*$", re.MULTILINE)


class Plan(NamedTuple):
    """An open plan at one moment: its key in its workspace, its text, and all texts that are open beside it."""

    uri: str
    version: int | None
    session: api.Session
    key: str
    text: str
    unsaved: dict[str, str]
    lines: Lines

    def check(self) -> api.CheckResult:
        """All that is wrong with the plan, as it stands in the editor."""
        return self.session.check(self.key, text=self.text, unsaved=self.unsaved)

    def catalogue(self) -> api.Catalogue:
        """What the plan can name: its own packs count where they are there."""
        named = tuple(_PACK.findall(self.text))
        try:
            return self.session.catalogue(packs=named, unsaved=self.unsaved)
        except api.NotFound:
            return self.session.catalogue(unsaved=self.unsaved)

    def view(self) -> api.PlanView:
        """The plan as an editor shows it."""
        return self.session.view(self.key, text=self.text, unsaved=self.unsaved)

    def other(self, key: str) -> api.PlanView | None:
        """Another plan of the workspace, as it stands in an editor or on the disk; None where it cannot be read."""
        try:
            return self.session.view(key, unsaved={self.key: self.text, **self.unsaved})
        except api.FdcError:
            return None

    def content(self, key: str) -> str | None:
        """The text of another file of the workspace; None where it cannot be read."""
        if key in self.unsaved or key == self.key:
            return self.unsaved.get(key, self.text)
        path = os.path.join(self.session.workspace, key)
        if not os.path.isfile(path):  # a pipe would be waited for
            return None
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, ValueError):
            return None

    def uri_of(self, key: str) -> str | None:
        """Where an editor finds the plan of a key; None for those that come with fdc."""
        if key == self.key:
            return self.uri
        path = os.path.join(self.session.workspace, key)
        return uris.from_fs_path(path) if os.path.isfile(path) else None

    def lines_of(self, key: str) -> Lines:
        """The lines of the plan of a key."""
        return self.lines if key == self.key else Lines(self.content(key) or "", self.lines.unit)


class Documents:
    """What is open, by workspace. Sessions are made when a plan of their workspace is opened."""

    def __init__(self) -> None:
        self._sessions: dict[str, api.Session] = {}

    def plan(self, workspace: Workspace, uri: str) -> Plan | None:
        """The open plan of an address; None for what is not a plan, or not open."""
        document = opened(workspace, uri)
        if document is None or not is_plan(document):
            return None
        path = _path(document)
        root = api.find_workspace(_folder(path) if path else _first_folder(workspace))
        session = self._sessions.get(root)
        if session is None:
            session = self._sessions[root] = api.Session(workspace=root)
        key = _key(path, root) if path else f"untitled-{os.path.basename(uri) or 'plan'}"
        unsaved = {
            _key(other, root): one.source
            for one in workspace.text_documents.values()
            if one is not document and (other := _path(one))
        }
        text = document.source
        lines = Lines(text, str(getattr(workspace.position_encoding, "value", "utf-16")))
        return Plan(document.uri, document.version, session, key, text, unsaved, lines)

    def views(self, plan: Plan) -> Iterator[api.PlanView]:
        """Every plan of the workspace that may call others, this one included."""
        yield plan.view()
        for key in dict.fromkeys((*plan.session.plans(), *plan.unsaved)):
            if key != plan.key and "call_plan" in (plan.content(key) or ""):
                view = plan.other(key)
                if view is not None:
                    yield view


def opened(workspace: Workspace, uri: str) -> TextDocument | None:
    """The open text of an address. pygls keeps texts by their addresses with the escapes (`%20`) replaced."""
    return workspace.text_documents.get(unquote(uri))


def is_plan(document: TextDocument) -> bool:
    """True for what the editor says is a plan, and for files that `fdc lint` takes for plans."""
    name = os.path.basename(document.uri)
    ours = name.endswith((".plan", ".plan.txt")) or name == "plan.txt"
    return ours or document.language_id == LANGUAGE


def _path(document: TextDocument) -> str | None:
    """The path of a document; None for one that was never saved."""
    return uris.to_fs_path(document.uri) if document.uri.startswith("file:") else None


def _folder(path: str) -> str:
    """The folder of a file; where it is not there yet, the nearest one above that is."""
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder) and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _first_folder(workspace: Workspace) -> str:
    """Where a text belongs that was never saved."""
    for folder in workspace.folders.values():
        path = uris.to_fs_path(folder.uri)
        if path:
            return path
    return workspace.root_path or "."


def _key(path: str, root: str) -> str:
    absolute = os.path.normpath(path)
    return absolute[len(root) + 1 :] if absolute.startswith(root + os.sep) else absolute
