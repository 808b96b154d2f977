"""What must hold of reading parallel text: every pair in order, or one line that says why not."""

import bz2
import csv
import gzip
import itertools
import lzma
import os
import re
import unicodedata

import pytest
from helpers import as_dataset, call, languages_of, source_of
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.corpus import cleaning, corpora, datasets, files
from nmt.corpus.survey import survey
from nmt.documents.document import decode as decoded
from nmt.text import encoding, spelling

# What a line of a text file can hold: anything but its end, NULs, and lone surrogates.
line_texts = st.text(st.characters(exclude_characters="\r\n\t\0", exclude_categories=["Cs"]))


def listed(dataset):
    """Returns a dataset of pairs of strings as a list of tuples."""
    return list(dataset)


def write(path, content):
    """Writes text or bytes to `path` and returns the path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---- Files ----


def test_a_tsv_gives_its_pairs_in_order(tmp_path):
    path = write(tmp_path / "a.tsv", "um\tone\r\ndois\ttwo\n\ntrês\tthree")
    dataset = datasets.checked_dataset([path])
    assert len(dataset) == 3
    assert listed(dataset) == [("um", "one"), ("dois", "two"), ("três", "three")]


def test_aligned_files_give_line_n_with_line_n_and_keep_empty_lines(tmp_path):
    source = write(tmp_path / "a.pt", "\ufeffum\n\ntrês\n")
    target = write(tmp_path / "a.en", "one\n\nthree\n")
    dataset = datasets.checked_dataset([source, target])
    assert len(dataset) == 3
    assert listed(dataset) == [("um", "one"), ("", ""), ("três", "three")]


@given(st.lists(st.tuples(line_texts, line_texts), max_size=5))
def test_any_text_without_line_ends_comes_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    write(path, "".join(f"{source}\t{target}\n" for source, target in pairs))
    expected = [(source.removeprefix("\ufeff"), target) for source, target in pairs]
    assert list(files.read_pairs([path])) == expected


odd_lines = st.lists(st.sampled_from(["\ufeff", "\r", "\n", "\r\n", "a", "\x00", " ", "é", "\t"]))


@settings(deadline=None, max_examples=60)
@given(odd_lines, odd_lines)
def test_lines_of_any_text_are_pairs_of_known_number(tmp_path_factory, source, target):
    """Line ends, BOMs, NULs alike: what is counted is what is read, each time."""
    folder = tmp_path_factory.mktemp("odd")
    lines = [" ".join(text).replace("\t", "") for text in (source, target)]
    aligned = [write(folder / "a.pt", lines[0]), write(folder / "a.en", lines[1])]
    tsv = [write(folder / "a.tsv", "".join(source))]
    for paths in (aligned, tsv):
        try:
            dataset = datasets.checked_dataset(paths)
        except UserError:
            continue
        assert listed(dataset) == list(files.read_pairs(paths))
        assert len(dataset) == len(listed(dataset))


@given(st.binary(max_size=60))
def test_any_bytes_are_pairs_or_one_line_of_error(tmp_path_factory, content):
    path = write(tmp_path_factory.mktemp("bytes") / "a.tsv", content)
    try:
        outcome = "".join(text for pair in files.read_pairs([path]) for text in pair)
    except UserError as error:
        outcome = str(error)
        assert outcome.startswith(f"{path}:")
    assert "\n" not in outcome


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("um\tone\ndois\n", ":2: 1 column where two are needed; write one pair per line"),
        (b"um\tone\ndois\ttwo\nb\xe9\tbe\n", ":3: byte 2 of the line is not UTF-8"),
        ("", "holds no pair"),
        ("\n\n", "holds no pair"),
    ],
)
def test_a_bad_tsv_is_refused_with_its_file_and_line(tmp_path, content, said):
    path = write(tmp_path / "bad.tsv", content)
    with pytest.raises(UserError) as error:
        datasets.checked_dataset([path])
    assert f"{path}" in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("source", "target"), [("a\nb\n", "a\n"), ("a\n", "a\nb\nc\n")])
def test_uneven_files_are_refused_naming_the_short_one(tmp_path, source, target):
    paths = [write(tmp_path / "x.pt", source), write(tmp_path / "x.en", target)]
    short = min(paths, key=lambda path: path.stat().st_size)
    with pytest.raises(UserError, match=f"^{short}: ends at line 1, but"):
        datasets.checked_dataset(paths)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        datasets.checked_dataset([tmp_path / "missing.tsv"])
    with pytest.raises(UserError, match="directory"):
        datasets.checked_dataset([tmp_path])
    with pytest.raises(UserError, match="3 files"):
        datasets.checked_dataset(["a", "b", "c"])


# ---- Held-out pairs ----


def numbered(tmp_path, pairs):
    """Returns a .tsv of that many pairs, all different."""
    return write(tmp_path / "n.tsv", "".join(f"s{n}\tt{n}\n" for n in range(pairs)))


def test_held_out_pairs_are_two_percent_seeded_and_never_trained_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(corpora, "CHUNK", 64)  # so that there are several chunks
    path = numbered(tmp_path, 500)
    corpus = corpora.from_files(source_of({"train": [path]}), seed=1)
    parts = [listed(corpus.train), listed(corpus.validation), listed(corpus.test)]
    assert [len(part) for part in parts] == [480, 10, 10]
    assert [len(split) for split in corpus[1:]] == [480, 10, 10]
    assert len(set().union(*parts)) == 500
    assert capsys.readouterr().err.count("10 of 500") == 2
    again = corpora.from_files(source_of({"train": [path]}), seed=1)
    other = corpora.from_files(source_of({"train": [path]}), seed=2)
    assert listed(again.test) == parts[2]
    assert listed(other.test) != parts[2]


def test_named_splits_are_used_whole(tmp_path):
    path = numbered(tmp_path, 100)
    test = write(tmp_path / "test.tsv", "x\ty\n")
    corpus = corpora.from_files(source_of({"train": [path], "test": [test]}), seed=1)
    assert listed(corpus.test) == [("x", "y")]
    assert [len(split) for split in corpus[1:]] == [98, 2, 1]


def test_no_more_than_a_thousand_are_held_out(tmp_path):
    path = numbered(tmp_path, 60_000)
    train, validation = corpora.hold_out(datasets.checked_dataset([path]), 1, seed=0)
    assert (len(train), len(validation)) == (59_000, 1000)


def test_too_few_pairs_to_hold_any_out_are_refused(tmp_path):
    path = numbered(tmp_path, 2)
    with pytest.raises(UserError, match="too few"):
        corpora.from_files(source_of({"train": [path]}), seed=1)


@pytest.mark.parametrize(("targets", "side"), [(1, 0), (3, 1)])
def test_no_source_is_both_held_out_and_trained_on(tmp_path, targets, side):
    """However it is spelled; the order is kept, and the same seed holds out the same pairs."""
    path = tmp_path / "many.tsv"
    sources = [f"frase é {number}" for number in range(200)]
    spelled = [str, lambda text: unicodedata.normalize("NFD", text), lambda text: f" {text}\u00a0"]
    pairs = [
        (spelled[n % 3](source), f"sentence {n} of {source}")
        for n in range(targets)
        for source in sources
    ]
    path.write_text("".join("\t".join(pair[:: 1 - 2 * side]) + "\n" for pair in pairs))
    source = {"dataset": str(path), "reverse": bool(side)}
    corpus = corpora.load_corpus(source_of(source), seed=3)
    splits = [list(corpora.trained_on(split)) for split in corpus[1:]]
    assert sum(map(len, splits)) == len(pairs)
    heads = [{source for source, _ in split} for split in splits]
    assert all(heads)
    assert not any(a & b for a, b in itertools.combinations(heads, 2))
    assert all(len(split) % targets == 0 for split in splits[1:])
    limit = int(0.02 * len(pairs))
    assert all(limit <= len(split) < limit + targets for split in splits[1:])
    order = [tuple(spelling.trimmed(text) for text in pair) for pair in pairs]
    assert splits[0] == [pair for pair in order if pair in {*splits[0]}]
    again = corpora.load_corpus(source_of(source), seed=3)
    assert [list(corpora.trained_on(split)) for split in again[1:]] == splits
    assert (
        list(corpora.trained_on(corpora.load_corpus(source_of(source), seed=4).test)) != splits[2]
    )


def test_few_sources_with_many_targets_are_held_out_one_by_one_or_are_too_few(tmp_path):
    path = tmp_path / "few.tsv"
    for sources in (2, 3):
        pairs = [(n % sources, n) for n in range(40)]
        path.write_text("".join(f"frase {a}\tsentence {b}\n" for a, b in pairs))
        if sources == 2:
            with pytest.raises(UserError, match="too few of different sources"):
                corpora.from_files(source_of({"train": [path]}), seed=1)
        else:
            corpus = corpora.from_files(source_of({"train": [path]}), seed=1)
            assert {len(split) for split in corpus[1:]} == {13, 14}


def test_blank_and_frequent_sources_are_not_held_out_where_there_are_others(tmp_path):
    frequent = {f"Frequente {n}." for n in range(4)}
    sources = [*[" "] * 300, *frequent, *[f"frase {n}" for n in range(4000)]]
    sources += [*frequent] * 149  # 12% of all
    path = tmp_path / "subtitles.tsv"
    path.write_text("".join(f"{source}\tsentence {n}\n" for n, source in enumerate(sources)))
    corpus = corpora.from_files(source_of({"train": [path]}), seed=1)
    train, *held_out = ([s for s, _ in corpora.trained_on(split)] for split in corpus[1:])
    size = int(0.02 * len(sources))
    for part in held_out:
        assert 0.7 * size <= len(part) <= size
        assert len({*part}) == len(part)
        assert all(source.startswith("frase ") for source in part)
    assert {"", *frequent} <= {*train}


def test_files_that_are_validated_in_the_other_direction_are_refused(tmp_path, capsys):
    texts = {"de-DE,en-US": "ja,yes", "de,en": "doch,but", "en,de": "no,nein"}
    train, valid, other = (
        write(tmp_path / f"{name}.csv", f"{header}\n{row}\n")
        for name, (header, row) in zip(("train", "valid", "other"), texts.items(), strict=True)
    )
    with pytest.raises(UserError, match=r"other\.csv: is en to de, and the training text de-DE"):
        corpora.load_corpus(
            source_of({"train": [train], "valid": [other], "test": [valid]}), seed=1
        )
    corpus = corpora.load_corpus(
        source_of({"train": [train], "valid": [valid], "test": [valid]}), seed=1
    )
    assert listed(corpus.validation) == [("doch", "but")]
    named = {"train": [train], "valid": [valid], "test": [other], "languages": ["de-DE", "en-US"]}
    assert listed(corpora.load_corpus(source_of(named), seed=1).test) == [
        ("nein", "no")
    ]  # as when evaluated
    chosen = {"train": [train], "valid": [other], "test": [other], "columns": ["1", "2"]}
    with pytest.raises(UserError, match=r"other\.csv: is en to de"):
        corpora.load_corpus(source_of(chosen), seed=1)
    by_name = {"train": [valid], "valid": [other], "test": [other], "columns": ["de", "en"]}
    assert listed(corpora.load_corpus(source_of(by_name), seed=1).test) == [("nein", "no")]
    capsys.readouterr()
    corpora.load_corpus(
        source_of({"train": [valid, other], "valid": [valid], "test": [valid]}), seed=1
    )
    assert "valid.csv is de to en, other.csv the other direction" in capsys.readouterr().err
    for split in ("train", "test"):
        for code, text in (("pt", "um\n"), ("en", "one\n")):
            write(tmp_path / f"{split}.{code}", text)
    pair, reversed_pair = (
        [str(tmp_path / f"{split}.{code}") for code in codes]
        for split, codes in (("train", ("pt", "en")), ("test", ("en", "pt")))
    )
    with pytest.raises(UserError, match=r"test\.en test\.pt: is en to pt, and the training text"):
        corpora.load_corpus(
            source_of({"train": pair, "valid": pair, "test": reversed_pair}), seed=1
        )


def test_pairs_occur_in_the_training_text_however_they_are_spelled(tmp_path):
    paths = {}
    for name, text in (
        ("train", "é um\tit is one \n" * 3),
        ("valid", "e\u0301 um\tit is one\nx\ty\n"),
        ("test", "\ufeff\u200b é\u00a0um  \tit\u2009is one\n"),
    ):
        paths[name] = [tmp_path / f"{name}.tsv"]
        paths[name][0].write_text(text)
    text_survey = survey(corpora.from_files(source_of(paths), seed=1))
    assert (text_survey.repeated_validation, text_survey.repeated_test) == (1, 1)


def test_pairs_of_other_splits_within_the_training_text_are_counted(tmp_path, monkeypatch):
    train = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("a", "1")]
    valid, test = [("a", "1"), ("a", "1"), ("a", "2")], [("d", "4"), ("c", "3"), ("x", "9")]
    paths = {}
    for name, pairs in (("train", train), ("valid", valid), ("test", test)):
        paths[name] = [tmp_path / f"{name}.tsv"]
        paths[name][0].write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    corpus = corpora.from_files(source_of(paths), seed=1)
    text_survey = survey(corpus)
    assert (text_survey.repeated_validation, text_survey.repeated_test) == (1, 2)
    assert text_survey.hashes == {
        split: corpora.fingerprint(dataset) for split, dataset in corpus.splits().items()
    }


# ---- Several files: groups, weights, gzip ----


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.txt"], [(["a.txt"], 1)]),
        (["a.tsv", "b.tsv.gz:3"], [(["a.tsv"], 1), (["b.tsv.gz"], 3)]),
        (["a.pt", "a.en:2", "b.tsv"], [(["a.pt", "a.en"], 2), (["b.tsv"], 1)]),
        (["a.pt.gz:5", "a.en.gz", "b", "c"], [(["a.pt.gz", "a.en.gz"], 5), (["b", "c"], 1)]),
        (["12:30.pt", "x:y.en"], [(["12:30.pt", "x:y.en"], 1)]),
    ],
)  # fmt: skip
def test_files_form_groups_with_weights(names, expected):
    assert files.grouped(names) == expected


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.pt", "a.en", "b.pt"], "b.pt: is not followed by the file of its translations"),
        (["a.pt:2", "a.en:3"], "a.pt and a.en: have different weights"),
        (["a.tsv:0"], "a.tsv:0: a weight is a whole number from 1 to 1000, as in a.tsv:2"),
        (["a.tsv:-1.5"], "a.tsv:-1.5: a weight"),
        (["a.tsv:1001"], "a.tsv:1001: a weight"),
    ],
)
def test_wrong_groups_and_weights_are_refused(names, said):
    with pytest.raises(UserError) as error:
        files.grouped(names)
    assert str(error.value).startswith(said)


def test_a_name_with_a_colon_and_a_number_may_be_that_of_a_file(tmp_path):
    path = str(write(tmp_path / "a.tsv:2", "um\tone\n"))
    assert files.weighted(path) == (path, 1)


def test_pairs_of_several_corpora_are_mixed_evenly_by_their_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "CHUNK", 10)
    a = write(tmp_path / "a.tsv", "".join(f"a{n}\t{n}\n" for n in range(60)))
    b = write(tmp_path / "b.tsv", "".join(f"b{n}\t{n}\n" for n in range(7)))
    mixed = datasets.text_dataset([str(a), f"{b}:3"])
    mixed_pairs = listed(mixed)
    assert len(mixed) == len(mixed_pairs) == 81
    expected = [(f"a{n}", str(n)) for n in range(60)] + [(f"b{n}", str(n)) for n in range(7)] * 3
    assert sorted(mixed_pairs) == sorted(expected)
    assert listed(mixed) == mixed_pairs
    for start in range(61):  # each part has its share: 60 and 21 of 81
        of_b = sum(source.startswith("b") for source, _ in mixed_pairs[start : start + 20])
        assert 2 <= of_b <= 9


@settings(deadline=None, max_examples=12)
@given(sizes=st.lists(st.integers(1, 40), min_size=2, max_size=4), chunk=st.integers(1, 50))
def test_mixing_loses_and_repeats_no_pair(sizes, chunk):
    parts = [[(f"{k} {n}", f"{n}") for n in range(size)] for k, size in enumerate(sizes)]
    given_parts = [*map(as_dataset, parts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "CHUNK", chunk)
        mixed = datasets.mixed(given_parts)
    assert sorted(listed(mixed)) == sorted(pair for part in parts for pair in part)


def test_weights_need_validation_and_test_files(tmp_path):
    path = numbered(tmp_path, 500)
    with pytest.raises(UserError, match="weights need --valid and --test"):
        corpora.from_files(source_of({"train": [f"{path}:2"], "valid": [path]}), seed=1)


def test_compressed_files_hold_the_same_pairs(tmp_path):
    text = "\ufeffum\tone\r\ndois\ttwo\n"
    plain = write(tmp_path / "a.tsv", text)
    packed = write(tmp_path / "a.tsv.gz", gzip.compress(text.encode()))
    assert listed(datasets.text_dataset([packed])) == listed(datasets.text_dataset([plain]))
    write(tmp_path / "a.pt.gz", gzip.compress(b"um\n"))
    write(tmp_path / "a.en", "one\n")
    pair = [tmp_path / "a.pt.gz", tmp_path / "a.en"]
    assert listed(datasets.text_dataset(pair)) == [("um", "one")]
    assert languages_of({"train": [str(path) for path in pair]}) == ["pt", "en"]


@pytest.mark.parametrize("damage", ["plain", "cut", "flipped"])
def test_a_damaged_compressed_file_is_refused_by_name(damage, tmp_path):
    packed = gzip.compress("".join(f"s{n}\tt{n}\n" for n in range(1000)).encode())
    flipped = packed[:50] + bytes([packed[50] ^ 255]) + packed[51:]
    content = {"plain": "um\tone\n", "cut": packed[:-20], "flipped": flipped}[damage]
    path = write(tmp_path / "a.tsv.gz", content)
    with pytest.raises(UserError, match=r"a\.tsv\.gz"):
        datasets.text_dataset([path])


# ---- Directions ----


GZIP_MEMBERS = {  # of bgzip, of tapes, of `cat a.gz b.gz`
    "an empty member at the end": lambda one, two: one + two + gzip.compress(b""),
    "an empty member between": lambda one, two: one + gzip.compress(b"") + two,
    "an empty member first": lambda one, two: gzip.compress(b"") + one + two,
    "zeros after the last member": lambda one, two: one + two + bytes(512),
    "zeros between": lambda one, two: one + bytes(7) + two,
}


@pytest.mark.parametrize("members", GZIP_MEMBERS.values(), ids=GZIP_MEMBERS)
def test_every_gzip_file_that_python_reads_is_trained_on(members, tmp_path):
    one, two = (gzip.compress(text) for text in (b"um\tone\n", b"dois\ttwo\n"))
    path = write(tmp_path / "a.tsv.gz", members(one, two))
    assert [*files.read_pairs([path])] == [("um", "one"), ("dois", "two")]
    assert listed(datasets.checked_dataset([path])) == [("um", "one"), ("dois", "two")]


# As a parameter, without the time: workers of pytest-xdist must collect the same tests.
GZIP = gzip.compress(b"um\tone\n", mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv.gz", b"um\tone\n", "is not compressed by gzip, though its name ends in .gz"),
        ("a.tsv", GZIP, "is compressed by gzip; add .gz to its name"),
        ("a.tsv.gz", gzip.compress(GZIP, mtime=0), "compressed by gzip, twice"),
        ("a.tsv", bz2.compress(b"um\tone\n"), "is compressed by bzip2; decompress it: bunzip2"),
        ("a.tsv", lzma.compress(b"um\tone\n"), "is compressed by xz; decompress it: unxz"),
        ("a.tsv", b"PK\x03\x04rest", "is a zip archive or a spreadsheet"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    name, content, said, tmp_path, refusal_of
):
    path = write(tmp_path / name, content)
    with pytest.raises(UserError, match=re.escape(f"{path}: ") + ".*" + re.escape(said)):
        datasets.checked_dataset([path])
    assert said in refusal_of("data", path)


LINES = "o gato dorme .\tthe cat sleeps .\n我在上海 .\tI am in Shanghai .\n"
MISREAD = LINES.encode("utf-16").decode("latin1").encode()  # by: iconv -f latin1 -t utf-8


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            LINES.encode("utf-16"),
            "is UTF-16, not UTF-8; convert it first: iconv -f utf-16 -t utf-8",
        ),
        (LINES.encode("utf-32"), "is UTF-32.*: iconv -f utf-32 -t utf-8"),
        (LINES.encode("utf-16-le"), "looks like UTF-16.*: iconv -f utf-16le -t utf-8"),
        (LINES.encode("utf-16-be"), "looks like UTF-16.*: iconv -f utf-16be -t utf-8"),
        (MISREAD, r"restore it: iconv -f utf-8 -t latin1 FILE \| iconv -f utf-16 -t utf-8"),
        (b"um\tone\nd\0ois\ttwo\n", r"a\.tsv:2: holds a NUL character.*iconv -f utf-16 -t utf-8"),
    ],
)
def test_utf_16_and_nuls_are_refused_with_the_right_advice(content, said, tmp_path):
    path = write(tmp_path / "a.tsv", content)
    with pytest.raises(UserError, match=said):
        datasets.checked_dataset([path])


@pytest.mark.parametrize(
    ("latin_lines", "advice"),
    [(1, "leave such lines out by the command data, with --drop encoding"), (3, "iconv -f latin1")],
)
def test_a_few_lines_of_latin_1_are_dropped_and_a_file_of_them_converted(
    latin_lines, advice, tmp_path, capsys, refusal_of
):
    lines = ["um\tone\n", "pão\tbread\n", "mão\thand\n", "não\tno\n"]
    mixed = [
        line.encode("latin1" if number >= 4 - latin_lines else "utf-8")
        for number, line in enumerate(lines)
    ]
    path = write(tmp_path / "a.tsv", b"".join(mixed))
    where = re.escape(f"{path}:{5 - latin_lines}: byte 2")
    with pytest.raises(UserError, match=f"{where}.*{advice}"):
        [*files.read_lines(path)]
    new = tmp_path / "new.tsv"
    if latin_lines == 3:
        assert "add --encoding" in refusal_of("data", path, "--drop", "encoding", "--to", new)
        return
    assert call("data", path, "--drop", "encoding", "--to", new) == 0
    assert "encoding: " in capsys.readouterr().out
    assert new.read_text().splitlines(keepends=True) == [
        line for line, content in zip(lines, mixed, strict=True) if content == line.encode()
    ]


@pytest.mark.parametrize(
    ("text", "encoding_of_file", "advice"),
    [
        ("Ela disse “sim” – 5 €…\tShe said “yes” – 5 €…", "cp1252", "iconv -f cp1252 -t utf-8"),
        ("l'été\tsummer", "latin1", "iconv -f latin1 -t utf-8"),
        ("l’été", "cp1252", "iconv -f cp1252 -t utf-8"),
        ("μια γάτα", "cp1253", "from its encoding: iconv -f ENCODING"),
        ("猫は眠る\t猫が好き", "shift_jis", "from its encoding: iconv -f ENCODING"),
    ],
)
def test_the_encoding_that_a_message_names_restores_the_text(
    text, encoding_of_file, advice, tmp_path, refusal_of
):
    path = write(tmp_path / "a.tsv", f"{text}\n".encode(encoding_of_file))
    with pytest.raises(UserError, match=advice):
        datasets.checked_dataset([path])
    assert advice in refusal_of("data", path)
    line = path.read_bytes()
    with pytest.raises(UserError, match=advice):
        [*encoding.decode_lines([line], "stdin")]
    with pytest.raises(UserError, match=advice):
        decoded(line)


def test_a_file_in_another_encoding_is_read_by_a_flag_which_the_message_names(
    tmp_path, capsys, refusal_of
):
    pairs = "português;English\nAção “já” – 5 €;“Now” – 5 €\nnão;no\n"
    path, clean = write(tmp_path / "a.csv", pairs.encode("cp1252")), tmp_path / "clean.tsv"
    assert "a.csv: is not UTF-8; add --encoding cp1252 to the command" in refusal_of("data", path)
    assert call("data", path, "--drop", "encoding", "--to", tmp_path / "b.tsv") == 2
    assert "a.csv: is not UTF-8; add --encoding cp1252" in capsys.readouterr().err
    assert call("data", path, "--encoding", "windows-1252", "--to", clean) == 0
    assert "Languages: pt and en." in capsys.readouterr().err  # of the header, in that encoding
    assert clean.read_text("utf-8") == "Ação “já” – 5 €\t“Now” – 5 €\nnão\tno\n"
    utf_16 = [
        write(tmp_path / f"a.{side}", "\ufeffsó\n".encode("utf-16-le")) for side in ("x", "y")
    ]
    assert call("data", *utf_16, "--encoding", "utf-16-le") == 0
    assert "só | só" in capsys.readouterr().out
    for name, said in (("ascii", "is not ascii"), ("rot13", "no encoding"), ("x", "no encoding")):
        assert said in refusal_of("data", path, "--encoding", name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'de,en\rHallo.,Hello.\r"Ein, Hund.","A, dog."\r'),
        ("a.tsv.gz", "um\tone\rdois\ttwo"),
    ],
)
def test_lines_that_end_with_carriage_returns_alone_are_named(name, content, tmp_path, capsys):
    data = gzip.compress(content.encode()) if name.endswith("gz") else content.encode()
    path = write(tmp_path / name, data)
    said = r"a\.[a-z.]+: ends lines with carriage returns alone; .*: tr '\\r' '\\n' < FILE"
    with pytest.raises(UserError, match=said):
        datasets.checked_dataset([path])
    assert call("data", path) == 2
    assert re.search(said, capsys.readouterr().err)


def test_a_carriage_return_within_a_cell_of_a_csv_is_named_in_our_words(tmp_path, refusal_of):
    path = write(tmp_path / "a.csv", b"um,one\ndo\ris,two\n")
    assert "a.csv:2: a carriage return within the line" in refusal_of("data", path)


def test_text_that_lost_characters_is_not_written_unless_it_is_dropped(tmp_path, capsys):
    lines = ["não\tno", "pão\tbread", "um\tone"]
    path = write(tmp_path / "a.tsv", "\n".join(lines).encode() + "\nmão\thand".encode("latin1"))
    assert call("data", path, "--to", tmp_path / "b.tsv") == 2
    assert "line 4: is not UTF-8, and would be written with U+FFFD" in capsys.readouterr().err
    assert not (tmp_path / "b.tsv").exists()
    assert call("data", path, "--to", tmp_path / "b.tsv", "--drop", "encoding") == 0
    assert (tmp_path / "b.tsv").read_text("utf-8").splitlines() == lines


def test_utf_16_on_stdin_is_named_too():
    with pytest.raises(UserError, match="stdin: is UTF-16"):
        [*encoding.decode_lines(LINES.encode("utf-16").splitlines(keepends=True), "stdin")]


def test_text_with_letters_that_hold_nuls_only_in_utf_16_is_no_utf_16():
    assert encoding.utf_16(LINES.encode()) is None
    assert encoding.utf_16(b"um\0 dois\n" * 9) is None  # refused by its line


def test_a_pipe_is_refused_where_text_is_read_several_times(tmp_path, capsys):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "a.en").write_text("one\n")
    for flags in (
        ["--train", pipe, tmp_path / "a.en"],
        ["--train", tmp_path / "a.en", f"{pipe}:2"],
        ["--dataset", pipe],
    ):
        assert call(*flags, "--run", tmp_path / "run") == 2
        assert "is a pipe or a device, and the text is read several" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_csv_is_read_as_spreadsheets_write_it(tmp_path):
    rows = [("Source", "Target"), ("um, dois", 'he said "one"'), ("três", "three"), ("é", "'x'")]
    path = tmp_path / "a.csv"
    with open(path, "w", encoding="utf-8-sig", newline="") as file:  # Excel's "CSV UTF-8"
        csv.writer(file).writerows(rows)
    assert [*files.read_pairs([path])] == rows[1:]
    assert listed(datasets.checked_dataset([path])) == rows[1:]
    assert [row.cells for row in cleaning.read([path])] == [[*row] for row in rows[1:]]
    packed = write(tmp_path / "b.csv.gz", gzip.compress(path.read_bytes()))
    assert listed(datasets.checked_dataset([packed])) == rows[1:]
    other = write(tmp_path / "c.tsv", b"um\tone\n")
    assert [len(group.paths) for group in files.grouped([path, other, packed])] == [1, 1, 1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("um one\n", r"a\.csv:1: 1 column where two are needed; .* as: source,target"),
        ("um,one,x\n", r"a\.csv:1: 3 columns where two are needed; quote cells .* --columns 1,2"),
        ('um,one\n"dois,two\n', r"a\.csv:2: not comma-separated cells"),
        ('um,"o"ne\n', r"a\.csv:1: not comma-separated cells .* double the latter"),
    ],
)
def test_a_wrong_csv_is_refused_with_its_line(content, said, tmp_path):
    path = write(tmp_path / "a.csv", content.encode())
    with pytest.raises(UserError, match=said):
        datasets.checked_dataset([path])


def test_a_reversed_corpus_has_its_sides_and_languages_exchanged(tmp_path):
    source = {"dataset": "winter-games"}
    forward = corpora.load_corpus(source_of(source), 1)
    backward = corpora.load_corpus(source_of(source | {"reverse": True}), 1)
    for split in ("train", "validation", "test"):
        pairs = listed(getattr(forward, split))
        assert listed(getattr(backward, split)) == [pair[::-1] for pair in pairs]
        assert len(getattr(backward, split)) == len(pairs)
    assert backward.name == "winter-games, reversed"
    assert languages_of(source | {"reverse": True}) == ["zh", "en"]
    files_of = {"train": ["a.pt", "a.en", "b.pt.gz", "b.en.gz:2"], "reverse": True}
    assert languages_of(files_of) == ["en", "pt"]
    assert languages_of({"train": ["a.de", "a.en", "a.fr", "a.en"]}) == []
    path = numbered(tmp_path, 200)
    only = corpora.load_corpus(
        source_of({"train": [path], "test": [path], "reverse": True}), 1, only="test"
    )
    assert listed(only.test)[0] == ("t0", "s0")
