"""What is named like a secret in fdc's own environment is taken out of what a run writes down (design 6)."""

from __future__ import annotations

from fdc_toolchain.effects.secrets import LEAST, Scrubber


def test_the_password_of_the_database_is_a_secret_as_written_and_as_meant() -> None:
    scrubber = Scrubber({"FDC_DATABASE": "postgresql://fdc:p%40ss-word@db.example/fdc", "HOME": "/home/somebody"})
    assert "[secret FDC_DATABASE] and [secret FDC_DATABASE]" == scrubber.text("p%40ss-word and p@ss-word")
    assert {"a": ["to db.example", 1]} == scrubber.value({"a": ["to db.example", 1]})


def test_a_short_password_and_a_path_are_not_searched_for() -> None:
    short = "x" * (LEAST - 1)
    scrubber = Scrubber({"FDC_DATABASE": f"postgresql://fdc:{short}@db/fdc", "SSH_AUTH_SOCK": "/run/agent.sock"})
    assert f"{short} /run/agent.sock" == scrubber.text(f"{short} /run/agent.sock")


def test_an_environment_without_secrets_changes_nothing() -> None:
    value = {"a": [1, "b"]}
    assert Scrubber({"HOME": "/home/somebody"}).value(value) is value
