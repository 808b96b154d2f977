"""What must hold of reading parallel text: every pair in order, or one line that says why not."""

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.text import corpora, files

# What a line of a text file can hold: anything but its end, and lone surrogates.
line_texts = st.text(st.characters(exclude_characters="\r\n\t", exclude_categories=["Cs"]))


def listed(dataset):
    """Returns a dataset of pairs of strings as a list of tuples."""
    return [(source.decode(), target.decode()) for source, target in dataset.as_numpy_iterator()]


def write(path, content):
    """Writes text or bytes to `path` and returns the path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---- Files ----


def test_a_tsv_gives_its_pairs_in_order(tmp_path):
    path = write(tmp_path / "a.tsv", "um\tone\r\ndois\ttwo\n\ntrês\tthree")
    dataset = corpora.checked_dataset([path])
    assert len(dataset) == 3
    assert listed(dataset) == [("um", "one"), ("dois", "two"), ("três", "three")]


def test_aligned_files_give_line_n_with_line_n_and_keep_empty_lines(tmp_path):
    source = write(tmp_path / "a.pt", "\ufeffum\n\ntrês\n")
    target = write(tmp_path / "a.en", "one\n\nthree\n")
    dataset = corpora.checked_dataset([source, target])
    assert len(dataset) == 3
    assert listed(dataset) == [("um", "one"), ("", ""), ("três", "three")]


def test_all_of_many_pairs_are_read(tmp_path):
    path = write(tmp_path / "a.tsv", "".join(f"s{n}\tt{n}\n" for n in range(2503)))
    dataset = corpora.checked_dataset([path])
    assert len(dataset) == 2503
    assert listed(dataset) == [(f"s{n}", f"t{n}") for n in range(2503)]


@given(st.lists(st.tuples(line_texts, line_texts), max_size=5))
def test_any_text_without_line_ends_comes_back(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    write(path, "".join(f"{source}\t{target}\n" for source, target in pairs))
    expected = [(source.removeprefix("\ufeff"), target) for source, target in pairs]
    assert list(files.read_pairs([path])) == expected


odd_lines = st.lists(st.sampled_from(["\ufeff", "\r", "\n", "\r\n", "a", "\x00", " ", "é", "\t"]))


@settings(deadline=None, max_examples=60)
@given(odd_lines, odd_lines)
def test_what_is_checked_is_what_is_trained_on(tmp_path_factory, source, target):
    """Python reads the files to check them, tf.data to train: line ends, BOMs, NULs alike."""
    folder = tmp_path_factory.mktemp("odd")
    lines = [" ".join(text).replace("\t", "") for text in (source, target)]
    aligned = [write(folder / "a.pt", lines[0]), write(folder / "a.en", lines[1])]
    tsv = [write(folder / "a.tsv", "".join(source))]
    for paths in (aligned, tsv):
        try:
            dataset = corpora.checked_dataset(paths)
        except UserError:
            continue
        assert listed(dataset) == list(files.read_pairs(paths))


def test_no_dataset_is_made_by_a_python_generator():
    """TensorFlow 2.21's generator op slows all of a process down on Python 3.11 (see corpora)."""
    for dataset in corpora.built_in("bundled")[1:]:
        graph = tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor).numpy()
        assert b"TextLineDataset" in graph
        assert b"GeneratorDataset" not in graph


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
        ("um\tone\tuno\n", ":1: 3 columns where two are needed; keep two"),
        (b"um\tone\ndois\ttwo\nb\xe9\tbe\n", ":3: byte 2 of the line is not UTF-8"),
        ("", "holds no pair"),
        ("\n\n", "holds no pair"),
    ],
)
def test_a_bad_tsv_is_refused_with_its_file_and_line(tmp_path, content, said):
    path = write(tmp_path / "bad.tsv", content)
    with pytest.raises(UserError) as error:
        corpora.checked_dataset([path])
    assert f"{path}" in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("source", "target"), [("a\nb\n", "a\n"), ("a\n", "a\nb\nc\n")])
def test_uneven_files_are_refused_naming_the_short_one(tmp_path, source, target):
    paths = [write(tmp_path / "x.pt", source), write(tmp_path / "x.en", target)]
    short = min(paths, key=lambda path: path.stat().st_size)
    with pytest.raises(UserError, match=f"^{short}: ends at line 1, but"):
        corpora.checked_dataset(paths)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        corpora.checked_dataset([tmp_path / "missing.tsv"])
    with pytest.raises(UserError, match="directory"):
        corpora.checked_dataset([tmp_path])
    with pytest.raises(UserError, match="3 files"):
        corpora.checked_dataset(["a", "b", "c"])


# ---- Held-out pairs ----


def numbered(tmp_path, pairs):
    """Returns a .tsv of that many pairs, all different."""
    return write(tmp_path / "n.tsv", "".join(f"s{n}\tt{n}\n" for n in range(pairs)))


def test_held_out_pairs_are_two_percent_seeded_and_never_trained_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(corpora, "CHUNK", 64)  # so that there are several chunks
    path = numbered(tmp_path, 500)
    corpus = corpora.from_files("n", [path], None, None, seed=1)
    parts = [listed(corpus.train), listed(corpus.validation), listed(corpus.test)]
    assert [len(part) for part in parts] == [480, 10, 10]
    assert [len(split) for split in corpus[1:]] == [480, 10, 10]
    assert len(set().union(*parts)) == 500
    assert capsys.readouterr().err.count("10 of 500") == 2
    again = corpora.from_files("n", [path], None, None, seed=1)
    other = corpora.from_files("n", [path], None, None, seed=2)
    assert listed(again.test) == parts[2]
    assert listed(other.test) != parts[2]


def test_named_splits_are_used_whole(tmp_path):
    path = numbered(tmp_path, 100)
    test = write(tmp_path / "test.tsv", "x\ty\n")
    corpus = corpora.from_files("n", [path], None, [test], seed=1)
    assert listed(corpus.test) == [("x", "y")]
    assert [len(split) for split in corpus[1:]] == [98, 2, 1]


def test_no_more_than_a_thousand_are_held_out(tmp_path):
    path = numbered(tmp_path, 60_000)
    train, validation = corpora.hold_out(corpora.checked_dataset([path]), 1, seed=0)
    assert (len(train), len(validation)) == (59_000, 1000)


def test_too_few_pairs_to_hold_any_out_are_refused(tmp_path):
    path = numbered(tmp_path, 2)
    with pytest.raises(UserError, match="too few"):
        corpora.from_files("n", [path], None, None, seed=1)


def test_autotuning_is_off_for_every_split(tmp_path):
    """Its thread may hold up the end of each iteration for a minute."""
    corpus = corpora.from_files("n", [numbered(tmp_path, 100)], None, None, 1)
    for dataset in corpus[1:]:
        assert dataset.batch(2).options().autotune.enabled is False


def test_pairs_of_other_splits_within_the_training_text_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "CHUNK", 3)
    train = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("a", "1")]
    valid, test = [("a", "1"), ("a", "1"), ("a", "2")], [("d", "4"), ("c", "3"), ("x", "9")]
    paths = {}
    for name, pairs in (("train", train), ("valid", valid), ("test", test)):
        paths[name] = [tmp_path / f"{name}.tsv"]
        paths[name][0].write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    corpus = corpora.from_files("n", **paths, seed=1)
    assert corpora.overlap(corpus) == [1, 2]
