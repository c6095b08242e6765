"""The top level holds exactly what it should, and tooling/ holds thin scripts beside one package."""

from __future__ import annotations

from tests.support.repository import ROOT, files, is_ignored

TOP_LEVEL = {
    "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md", "VERSION", "action.yml",
    "pyproject.toml",
    "benchmarks", "docs", "editors", "grammar", "knowledge_core", "plans", "protocols", "tests", "tooling",
}  # fmt: skip
HIDDEN = {".ci", ".github", ".gitignore", ".pre-commit-hooks.yaml"}


def test_the_repository_has_exactly_these_at_the_top() -> None:
    assert TOP_LEVEL | HIDDEN == {name.split("/")[0] for name in files()}


def test_nothing_strange_lies_at_the_top() -> None:
    def known(name: str, is_folder: bool) -> bool:
        return name in TOP_LEVEL | HIDDEN | {".git"} or is_ignored(name + "/" * is_folder)

    assert [] == sorted(
        entry.name for entry in ROOT.iterdir() if not known(entry.name, entry.is_dir())
    )


def test_tooling_is_a_source_root_with_one_package() -> None:
    inside = {name.split("/")[1] for name in files() if name.startswith("tooling/")}
    assert "__init__.py" not in inside
    assert {"fdc_packs", "fdc_toolchain"} == {
        name for name in inside if (ROOT / "tooling" / name).is_dir()
    }
    assert [] == sorted(
        name
        for name in inside - {"fdc_packs", "fdc_toolchain"}
        if not name.endswith((".py", ".json"))
    )


def test_the_language_is_data_without_python() -> None:
    assert [] == [
        name
        for name in files()
        if name.startswith(("grammar/", "protocols/")) and name.endswith(".py")
    ]


def test_the_version_is_one_line_of_semver() -> None:
    """FDC-95."""
    text = (ROOT / "VERSION").read_text("ascii")
    assert [text.strip()] == text.splitlines()
    major, minor, patch = text.strip().split("-")[0].split(".")
    assert all(part == str(int(part)) for part in (major, minor, patch))


def test_the_changelog_speaks_of_this_version() -> None:
    version = (ROOT / "VERSION").read_text("ascii").strip()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert (
        "Apache License" in text
        and "Version 2.0, January 2004" in text
        and "END OF TERMS AND CONDITIONS" in text
    )
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text("utf-8")
