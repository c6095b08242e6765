"""Settings: `fdc.toml` or `[tool.fdc]`; a mistake in them is a sentence that says where, never ignored, never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fdc_toolchain.diagnostics.source import Limits
from fdc_toolchain.linking.project.settings import (
    AgentFiles,
    Settings,
    SettingsError,
    read_settings,
)

from tests.support.linting import lint, places


def read(folder: Path, text: str, name: str = "fdc.toml") -> Settings:
    (folder / name).write_text(text)
    return read_settings(str(folder))


def test_without_a_file_everything_is_as_it_is(tmp_path: Path):
    assert Settings() == read_settings(str(tmp_path))
    assert Settings() == read(tmp_path, "")


def test_every_setting_is_read(tmp_path: Path):
    text = """\
        fsm = "m.json"
        profile = "fdc"
        catalogues = ["one.json", "two.json"]
        exclude = ["old/*"]
        ignore = ["FDC441"]
        strict = true
        max-stack = 4
        [per-file-ignores]
        "b/*" = ["FDC313", "FDC314"]
        "a/*" = ["FDC441"]
        [limits]
        file-bytes = 10
        nesting = 200
        [agents]
        output = "A.md"
        profile = "compact"
        split = true
        targets = ["claude", "cursor"]
        max-bytes = 9
        """
    text = 'protocols = "law"\nprotect = ["deploy/**"]\n' + text
    expected = Settings(
        fsm="m.json", profile="fdc", catalogues=("one.json", "two.json"), protocols="law", exclude=("old/*",),
        ignore=("FDC441",), per_file_ignores=(("a/*", ("FDC441",)), ("b/*", ("FDC313", "FDC314"))), strict=True,
        max_stack=4, limits=Limits(file_bytes=10, nesting=200), stated_catalogues=True,
        agents=AgentFiles("A.md", "compact", True, ("claude", "cursor"), 9), protect=("deploy/**",),
    )  # fmt: skip
    assert expected == read(tmp_path, text)
    table = (
        text.replace("[per", "[tool.fdc.per")
        .replace("[limits", "[tool.fdc.limits")
        .replace("[agents", "[tool.fdc.agents")
    )
    (tmp_path / "fdc.toml").unlink()
    assert expected == read(
        tmp_path, f"[tool.fdc]\n{table}\n[tool.ruff]\nx = 1\n", "pyproject.toml"
    )


def test_a_mark_of_the_byte_order_is_no_setting(tmp_path: Path):
    """Editors of Windows write one; protocols and plans may have one, too."""
    assert Settings(max_stack=4) == read(tmp_path, "\ufeffmax-stack = 4\r\n")


def test_fdc_toml_goes_before_pyproject(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[tool.fdc]\nprofile = "fdc"\n')
    assert read_settings(str(tmp_path)).profile == "fdc"
    assert read(tmp_path, "").profile == "default"


@pytest.mark.parametrize(
    "text", ["", "[tool.ruff]\n", "nonsense about fdc", "tool = 1 # fdc\n", "tool = 'tool.fdc'\n"]
)
def test_a_pyproject_that_does_not_mention_us_is_nobodys_business(tmp_path: Path, text: str):
    assert Settings() == read(tmp_path, text, "pyproject.toml")


@pytest.mark.parametrize(
    "text",
    [
        "tool.fdc.strict = true\n",
        "[tool]\nfdc = {strict = true}\n",
        '["tool"."fdc"]\nstrict = true\n',
    ],
)
def test_the_table_is_found_however_it_is_written(tmp_path: Path, text: str):
    assert read(tmp_path, text, "pyproject.toml").strict is True


WRONG = {
    'fsn = "x"': "fdc.toml: unknown key `fsn`; did you mean `fsm`?",
    "nonsense": "fdc.toml: Expected '=' after a key",
    "max-stack = " + "9" * 5000: "fdc.toml: a number has too many digits",
    "fsm = " + "[" * 100_000: "fdc.toml: nested too deeply",
    "fsm = 3": "fdc.toml: `fsm` takes a text, found 3",
    "strict = 1": "fdc.toml: `strict` takes true or false, found 1",
    "max-stack = true": "fdc.toml: `max-stack` takes a whole number, found true",
    "max-stack = 11": "fdc.toml: `max-stack` is 1 to 10, found 11",
    "max-stack = 0": "fdc.toml: `max-stack` is 1 to 10, found 0",
    "max_stack = 3": "fdc.toml: unknown key `max_stack`; did you mean `max-stack`?",
    'profile = "x"': "fdc.toml: `profile` is `default` or `fdc`, found `x`",
    'exclude = "x"': "fdc.toml: `exclude` takes a list, found 'x'",
    "exclude = [1]": "fdc.toml: `exclude` takes a list of texts",
    "catalogues = [[]]": "fdc.toml: `catalogues` takes a list of texts",
    'ignore = ["FDC9"]': "fdc.toml: `ignore` names `FDC9`, which is not a code",
    'ignore = ["mising-file"]': "fdc.toml: `ignore` names `mising-file`, which is not a code",
    "ignore = [1]": "fdc.toml: `ignore` takes a list of codes",
    'ignore = [["FDC411"]]': "fdc.toml: `ignore` takes a list of codes",
    "ignore = [{}]": "fdc.toml: `ignore` takes a list of codes",
    'per-file-ignores = {"a" = "FDC411"}': "fdc.toml: `per-file-ignores` takes lists of codes, found 'FDC411' for `a`",
    'per-file-ignores = {"a" = 3}': "fdc.toml: `per-file-ignores` takes lists of codes, found 3 for `a`",
    'per-file-ignores = {"a" = [["x"]]}': "fdc.toml: `per-file-ignores` takes a list of codes",
    'ignore = ["FDC411"]': "fdc.toml: `ignore` names FDC411, an error; only warnings can be ignored",
    'ignore = ["FDC471"]': "fdc.toml: `ignore` names FDC471, an error; a table `[[allow]]` with `code`, `files` and",
    'per-file-ignores = {"a" = ["FDC401"]}': "fdc.toml: `per-file-ignores` names FDC401, an error; only warnings",
    "allow = [1]": "fdc.toml: each `[[allow]]` has `code`, `files`, `reason`, found 1",
    'allow = [{code = "FDC471"}]': "fdc.toml: each `[[allow]]` has `code`, `files`, `reason`, found ",
    'allow = [{code = "FDC471", files = "*", reason = ""}]': "fdc.toml: `code`, `files`, `reason` of `[[allow]]` take a text",
    'allow = [{code = "FDC411", files = "*", reason = "x"}]': "fdc.toml: `[[allow]]` takes FDC451, FDC471, FDC472, FDC473",
    'assumptions = "no"': "fdc.toml: `assumptions` takes `deny` or a list of ",
    'assumptions = ["missing-file"]': "fdc.toml: `assumptions` takes `deny` or a list of ",
    "limits = {nestin = 3}": "fdc.toml: unknown limit `nestin`; did you mean `nesting`?",
    "limits = {nesting = 0}": "fdc.toml: limit `nesting` takes a whole number of 1 or more, found 0",
    "limits = {nesting = true}": "fdc.toml: limit `nesting` takes a whole number of 1 or more, found true",
    "limits = {nesting = 201}": "fdc.toml: limit `nesting` is at most 200",
    'limits = {nesting = "3"}': "fdc.toml: limit `nesting` takes a whole number of 1 or more, found '3'",
}


@pytest.mark.parametrize("text", WRONG)
def test_each_mistake_is_one_sentence_that_says_where(tmp_path: Path, text: str):
    with pytest.raises(SettingsError) as told:
        read(tmp_path, text + "\n")
    assert str(told.value).startswith(WRONG[text])
    assert "\n" not in str(told.value)


def test_in_pyproject_the_sentence_names_the_table(tmp_path: Path):
    with pytest.raises(
        SettingsError, match=r"^pyproject\.toml: \[tool\.fdc\]: unknown key `strikt`"
    ):
        read(tmp_path, "[tool.fdc]\nstrikt = true\n", "pyproject.toml")
    with pytest.raises(SettingsError, match="expected a table"):
        read(tmp_path, "[tool]\nfdc = 1\n", "pyproject.toml")
    with pytest.raises(SettingsError, match=r"^pyproject\.toml: "):
        read(tmp_path, "[tool.fdc]\nnonsense\n", "pyproject.toml")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"fsm = '\xff'", b"\0", b"x = " + b"[" * 100_000])
def test_bytes_that_are_no_settings_are_told_as_such(tmp_path: Path, data: bytes):
    (tmp_path / "fdc.toml").write_bytes(data)
    with pytest.raises(SettingsError, match=r"^fdc\.toml"):
        read_settings(str(tmp_path))


def test_a_folder_of_that_name_is_told_as_such(tmp_path: Path):
    (tmp_path / "fdc.toml").mkdir()
    with pytest.raises(SettingsError, match=r"^fdc\.toml cannot be read"):
        read_settings(str(tmp_path))


def test_no_value_of_any_key_raises_anything_else(tmp_path: Path):
    keys = (
        "fsm",
        "profile",
        "catalogues",
        "exclude",
        "ignore",
        "per-file-ignores",
        "strict",
        "max-stack",
        "limits",
    )
    values = (
        "1", "-1", "1.5", "true", "''", "'x'", "[]", "[1]", "['x']", "[[]]", "[['FDC411']]", "{}", "{a = 1}", "{a = []}",
        "{a = ['FDC411']}", "{a = [[]]}", "{nesting = 9}", "1979-05-27", "nan", "9999999999999999999999",
    )  # fmt: skip
    rng = random.Random(1)
    fine = 0
    for key in keys:
        for value in values:
            other = rng.choice(keys)
            text = f"{key} = {value}\n" + (
                f"{other} = {rng.choice(values)}\n" if other != key and rng.random() < 0.3 else ""
            )
            try:
                read(tmp_path, text)
                fine += 1
            except SettingsError:
                pass
    assert fine >= 8


def test_codes_that_are_ignored_are_not_reported_anywhere_or_in_some_files():
    files = {"a/x.plan": "x <- list_files\nset_plan x\n", "b/y.plan": "x <- list_files\n"}
    everywhere = Settings(fsm="any.json", ignore=("FDC313",))
    assert places(lint(files, settings=everywhere)) == []
    some = Settings(fsm="any.json", per_file_ignores=(("a/*", ("FDC313",)),))
    assert places(lint(files, settings=some)) == [("b/y.plan", 1, "FDC313")]
