"""`fdc schema`: what is shipped, under names that stay."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from fdc_toolchain.cli import schema
from fdc_toolchain.linking.project import settings
from fdc_toolchain.linking.project.settings import SettingsError, read_settings

from tests.support.inside import fdc
from tests.support.repository import ROOT, files

SETTINGS = json.loads((ROOT / "grammar/settings.schema.json").read_text("utf-8"))


def test_every_schema_for_people_and_programs_has_a_name_and_an_id_of_that_name(
    tmp_path: Path,
) -> None:
    listed = fdc("schema", cwd=tmp_path).stdout.splitlines()
    for line, (name, (path, _)) in zip(listed, schema.SCHEMAS.items(), strict=True):
        text = (ROOT / path).read_text("utf-8")
        assert (
            line.split()[:2]
            == [name, json.loads(text)["$id"]]
            == [name, f"urn:fdc:schema:{name}:1"]
        )
        jsonschema.Draft202012Validator.check_schema(json.loads(text))
        assert (
            text
            == fdc("schema", name, cwd=tmp_path).stdout
            == fdc("schema", line.split()[1], cwd=tmp_path).stdout
        )
    shipped = {
        one
        for one in files()
        if one.endswith(".schema.json") and not one.startswith(("tests/", "tooling/fdc_packs/"))
    }
    assert shipped == {path for path, _ in schema.SCHEMAS.values()}


def test_a_name_that_is_none_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = fdc("schema", "setings", cwd=tmp_path)
    assert done.returncode == 2 and "did you mean `settings`" in done.stderr


def test_the_schema_of_the_settings_has_every_key() -> None:
    assert set(settings._TAKES) == set(SETTINGS["properties"])
    assert {name.replace("_", "-") for name in settings.AgentFiles._fields} == set(
        SETTINGS["properties"]["agents"]["properties"]
    )
    assert {name.replace("_", "-") for name in settings.Limits._fields} == set(
        SETTINGS["properties"]["limits"]["properties"]
    )


@pytest.mark.parametrize(
    "table",
    [
        {}, {"fsm": "a.json", "strict": True, "max-stack": 3, "test-command": "make test"}, {"max-stack": 11}, {"strict": 1},
        {"limits": {"nesting": 200}}, {"limits": {"nesting": 201}}, {"limits": {"nest": 1}}, {"profile": "x"}, {"unknown": 1},
        {"ignore": ["FDC313"]}, {"ignore": "FDC313"}, {"per-file-ignores": {"a/*": ["FDC313"]}},
        {"per-file-ignores": {"a": "x"}},
        {"agents": {"output": "A.md", "split": True, "targets": ["claude"]}}, {"agents": {"max-bytes": 0}},
        {"models": {"judge": "m", "coder": {"model": "m", "seconds": 5}}}, {"models": {"judge": {"model": 1}}},
        {"allow": [{"code": "FDC471", "files": "*", "reason": "r"}]},
        {"allow": [{"code": "FDC401", "files": "*", "reason": "r"}]},
        {"allow": [{"code": "FDC471", "files": "*", "reason": " "}]}, {"assumptions": "deny"}, {"assumptions": "allow"},
        {"assumptions": ["kept-file"]}, {"untrusted": ["a"], "protect": ["b"], "exclude": ["d"]}, {"secret": "c"},
    ],
)  # fmt: skip
def test_the_schema_of_the_settings_takes_what_fdc_takes(
    table: dict[str, object], tmp_path: Path
) -> None:
    def toml(value: object) -> str:
        if isinstance(value, dict):
            return (
                "{"
                + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items())
                + "}"
            )
        return (
            "[" + ", ".join(map(toml, value)) + "]"
            if isinstance(value, list)
            else json.dumps(value)
        )

    (tmp_path / "fdc.toml").write_text(
        "".join(f"{key} = {toml(value)}\n" for key, value in table.items()), "utf-8"
    )
    try:
        read_settings(str(tmp_path))
        taken = True
    except SettingsError:
        taken = False
    assert taken == jsonschema.Draft202012Validator(SETTINGS).is_valid(table)
