"""What is named like a secret in fdc's own environment is taken out of what a run writes down (design 6)."""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path
from urllib.parse import quote

import pytest
from fdc_toolchain.linking.own_row import no_variable
from fdc_toolchain.linking.project.secret_files import variable
from fdc_toolchain.workspace.secrets.scrubber import FORMS, LEAST, Scrubber
from fdc_toolchain.workspace.secrets.values import files_of, values_of
from hypothesis import given
from hypothesis import strategies as st

VALUE = "pa:ss/W0rd+x%7é"


def test_the_password_of_the_database_is_a_secret_as_written_and_as_meant() -> None:
    scrubber = Scrubber(
        {"FDC_DATABASE": "postgresql://fdc:p%40ss-word@db.example/fdc", "HOME": "/home/somebody"}
    )
    assert "[secret FDC_DATABASE] and [secret FDC_DATABASE]" == scrubber.text(
        "p%40ss-word and p@ss-word"
    )
    assert {"a": ["to db.example", 1]} == scrubber.value({"a": ["to db.example", 1]})


def test_one_list_says_which_variables_are_secrets_for_records_and_for_tools() -> None:
    """The password of any address is one; the address itself, which a page may name, is not."""
    names = {
        "value": [
            "API_KEY",
            "GITHUB_TOKEN",
            "MY_COOKIE",
            "DB_PASSWD",
            "DB_PASS",
            "PASS",
            "smtp.pass",
            "DB_PWD",
        ],
        "part": ["DATABASE_URL", "SENTRY_DSN", "BROKER_URI"],
    }
    for how, ours in names.items():
        for name in ours:
            assert variable(name) == how and no_variable(name) is not None
    assert variable("TEAPOT") == "" and no_variable("TEAPOT") is None
    assert {""} == {variable(name) for name in ("PWD", "OLDPWD", "COMPASS_PATH", "BYPASS")}
    found = {
        "BROKER_URL": "amqp://me:drowssap-1@mq.example/x",
        "SERVER_URL": "https://git.example/a@b",
        "A_COOKIE": "biscuit-1",
    }
    scrubber = Scrubber(found)
    said = "amqp://me:[secret BROKER_URL]@mq.example/x https://git.example/a@b [secret A_COOKIE]"
    assert (
        scrubber.text("amqp://me:drowssap-1@mq.example/x https://git.example/a@b biscuit-1") == said
    )
    assert scrubber.text("https://[broken") == Scrubber({"BAD_URL": "https://[broken@x"}).text(
        "https://[broken"
    )


def test_a_short_password_and_a_path_are_not_searched_for() -> None:
    short = "x" * (LEAST - 1)
    scrubber = Scrubber(
        {"FDC_DATABASE": f"postgresql://fdc:{short}@db/fdc", "SSH_AUTH_SOCK": "/run/agent.sock"}
    )
    assert f"{short} /run/agent.sock" == scrubber.text(f"{short} /run/agent.sock")


def test_an_environment_without_secrets_changes_nothing() -> None:
    value = {"a": [1, "b"]}
    assert Scrubber({"HOME": "/home/somebody"}).value(value) is value


def encoded(value: str) -> dict[str, str]:
    data = value.encode()
    return {
        "as it is": value,
        **{
            f"base64 behind {n}": base64.b64encode(b"x" * n + data + b"y" * n).decode()
            for n in range(4)
        },
        **{
            f"base64 of URLs behind {n}": base64.urlsafe_b64encode(b"?" * n + data)
            .decode()
            .rstrip("=")
            for n in range(4)
        },
        "base64 in lines": "\n".join(textwrap.wrap(base64.b64encode(b"xx" + data).decode(), 5)),
        "hex": data.hex(),
        "HEX": data.hex().upper(),
        "hex in pairs": data.hex(" "),
        "hex in lines": data.hex("\n"),
        "percent": quote(value, safe=""),
        "all percent": "".join(f"%{byte:02x}" for byte in data),
        "some percent": value.replace("a", "%61").replace(":", "%3A"),
    }


@pytest.mark.parametrize("way", encoded(VALUE))
def test_a_secret_is_found_in_every_way_to_write_it(way: str) -> None:
    text = encoded(VALUE)[way]
    masked = Scrubber({"SERVICE_TOKEN": VALUE}).text(f"before {text} after")
    assert (
        "[secret SERVICE_TOKEN]" in masked
        and masked.startswith("before ")
        and masked.endswith(" after")
    ), masked
    assert len(masked) < len("before [secret SERVICE_TOKEN] after") + 12, (
        "no more of it is left than its neighbours share"
    )


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=LEAST, max_size=40),
    st.data(),
)
def test_no_alignment_and_no_neighbour_hides_a_value(value: str, data: st.DataObject) -> None:
    before, after = data.draw(st.binary(max_size=5)), data.draw(st.binary(max_size=5))
    scrubber = Scrubber({"A_KEY": value})
    if value.startswith("/"):
        return
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert "[secret A_KEY]" in scrubber.text(encode(before + value.encode() + after).decode())
    assert "[secret A_KEY]" in scrubber.text((before + value.encode() + after).hex().upper())
    assert "[secret A_KEY]" in scrubber.text("x" + quote(value, safe="") + "y")


@given(
    st.lists(
        st.sampled_from(
            ("pa:ss/W0rd", "+x%7é", "pa:ss/W0rd+x%7é", "%61", "a", " ", "tea", "sk-", "a1B2" * 9)
        )
        | st.sampled_from([*encoded(VALUE).values()]),
        max_size=6,
    )
)
def test_a_value_is_clean_where_each_of_its_texts_is(texts: list[str]) -> None:
    """Halves of a secret in two texts are none, and no text hides what another has."""
    scrubber = Scrubber({"SERVICE_TOKEN": VALUE, "A_KEY": "tea for two"})
    value = {"rows": texts, "row": {"".join(texts): 1}}
    clean = {
        "rows": [scrubber.text(one) for one in texts],
        "row": {scrubber.text("".join(texts)): 1},
    }
    assert clean == scrubber.value(value)
    assert (scrubber.value(value) is value) == (clean == value)


LOOKS = (
    "sk-ant-api03-" + "a1B2" * 10, "ghp_" + "a1B2" * 9, "github_pat_" + "a1B2" * 9, "glpat-" + "a1B2" * 5, "AKIA" + "A1B2" * 4,
    "xoxb-" + "12345678-" * 3 + "abc", "AIza" + "a1B2c" * 7, "sk_live_" + "a1B2" * 6, "npm_" + "a1B2" * 9,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
)  # fmt: skip


@pytest.mark.parametrize("text", LOOKS)
def test_what_looks_like_a_secret_is_one(text: str) -> None:
    assert "it is [secret]." == Scrubber({}).text(f"it is {text}.")


def test_what_only_begins_like_one_is_none() -> None:
    text = (
        " ".join(start for start, _ in FORMS)
        + " task-list sk-learn AKIA1 npm_config xox-y BEGIN PUBLIC KEY-----"
    )
    assert Scrubber({}).text(text) is text


def test_the_values_of_the_workspace_s_files_of_secrets_are_known(tmp_path: Path) -> None:
    files = {
        ".env": "NODE_ENV=production\nAPI_TOKEN='tok-from-env'\nDATABASE_URL=postgres://u:dbpassword@db/x\nPORT=8080\nDB_PASS=plain-words\n",
        ".pgpass": "db.example:5432:tea:me:pg-password\n*:*:tea:you:pg-password-2\n",
        "deploy/.npmrc": "//registry.npmjs.org/:_authToken=npmtoken1\n",
        ".netrc": "machine a login b password netrc-password\n",
        "credentials.json": '{"project": "a-long-name", "client_secret": "json-secret"}',
        "a/key.pem": "-----BEGIN PRIVATE KEY-----\n" + "Ab1+" * 16 + "\n-----END PRIVATE KEY-----\n",
        "README.md": "API_TOKEN=not-a-secret-file\n",
        ".venv/pyvenv.cfg": "", ".venv/bin/x": "",
        ".venv/lib/python3.12/site-packages/certifi/cacert.pem": "Zz9+" * 16 + "\n",
    }  # fmt: skip
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    wanted = {
        "tok-from-env",
        "dbpassword",
        "npmtoken1",
        "netrc-password",
        "plain-words",
        "pg-password",
        "pg-password-2",
        "json-secret",
        "Ab1+" * 16,
    }
    assert set(values_of(str(tmp_path))) == wanted
    assert files_of(str(tmp_path)) == [
        ".env",
        ".netrc",
        ".pgpass",
        "a/key.pem",
        "credentials.json",
        "deploy/.npmrc",
    ]
    scrubber = Scrubber({}, more=lambda: values_of(str(tmp_path)))
    assert "production [secret .env API_TOKEN]" == scrubber.text("production tok-from-env")


READ = {
    ".env": {
        'A_TOKEN="quo\\"ted-token"': 'quo"ted-token',
        "A_PASSWORD=correct horse battery staple": "correct horse battery staple",
        "A_SECRET=abc,defghijkl;12": "abc,defghijkl;12",
        "A_SECRET=p'q\"longpassword": "p'q\"longpassword",
        "A_PASSWORD=Tr0ub4dor&3,horse # a note": "Tr0ub4dor&3,horse",
        'A_PASSWORD="a value # with a mark" # a note': "a value # with a mark",
        "export A_KEY='it'\\''s-long-enough'": "it's-long-enough",
        'A_TOKEN="line one 12345\\nline two 12345"': "line one 12345\nline two 12345",
        'A_PASSWORD="first line\nsecond line"\nB=c': "second line",
        "DATABASE_URL=postgres://me:p%40ss-word@db/x": "p@ss-word",
        'KEY="-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC"\nA_PASSWORD=beside-a-key': "beside-a-key",
    },
    "secrets.yaml": {
        "db:\n  password: hunter2-nested": "hunter2-nested",
        "db:\n  host: x\n  password: correct horse battery": "correct horse battery",
        "token: >-\n  folded-token-1\nname: x": "folded-token-1",
        'tokens:\n  - item-token-1\n  - "item-token-2"\n': "item-token-2",
        "password: 'it''s-long-enough'": "it's-long-enough",
        "{user: me, password: in-a-flow}": "in-a-flow}",
    },
    "secrets.json": {
        '{"tokens": ["in-a-list-1",\n "in-a-list-2"]}': "in-a-list-2",
        '{"a": {"password": "js\\"on-pass"}}': 'js"on-pass',
        '{"token": "uni\\u0063ode-token"}': "unicode-token",
        '{\n "token":\n  "on-its-own-line",\n "x": 1}': "on-its-own-line",
    },
    "secrets.toml": {
        'password = """\nmulti-line-pass\n"""': "multi-line-pass",
        "token = 'lit\"eral-token'": 'lit"eral-token',
    },
}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [(name, text, value) for name, rows in READ.items() for text, value in rows.items()],
)
def test_a_value_is_known_as_a_program_reads_it(
    tmp_path: Path, name: str, text: str, value: str
) -> None:
    (tmp_path / name).write_text(f"{text}\n")
    scrubber = Scrubber({}, more=lambda: values_of(str(tmp_path)))
    for shown in (f"is {value}", f"{value} again"):
        assert value not in scrubber.text(shown), values_of(str(tmp_path))


def test_what_stands_beside_secrets_is_shown(tmp_path: Path) -> None:
    (tmp_path / "secrets.yaml").write_text(
        "auth:\n  host: db.example.org\n  mode: a long plain setting\n  password: hunter2-nested\n"
    )
    assert set(values_of(str(tmp_path))) == {"hunter2-nested"}
