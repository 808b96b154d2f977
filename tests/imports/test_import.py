"""What must hold of an imported model: numbers, tokens and translations are those of its makers."""

import io
import json
import pickle
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from helpers import (
    MARIAN_TAGS,
    MARIAN_WIDTH,
    call,
    ids_of_transformers,
    in_graph,
    pretend_epoch,
    refused,
    sentences,
    write_marian_folder,
    write_tsv,
)
from safetensors.numpy import load_file, save_file

from nmt.decoding.search_options import EXTRA_TOKENS
from nmt.exports import ctranslate2_model, hugging_face, saved_model
from nmt.exports.exported_model import Export
from nmt.imports.imported_model import NEVER, read_model
from nmt.imports.imported_run import write_run
from nmt.imports.imported_vocabulary import read_vocabulary
from nmt.imports.model_configuration import PEAK_RATE, describe
from nmt.imports.model_folder import ModelFolder
from nmt.runs import loading
from nmt.text.special_tokens import END, START, UNKNOWN
from nmt.training.loop import Epochs

LINES = [source for source, _ in sentences(30, seed=3)]
TEXTS = [*LINES, "", "  ", "Tom's 3 cats…", "¼ ﬁ", "Привет, мир!", "你好", "नमस्ते", "a" * 300]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a model like those of OPUS-MT."""
    return write_marian_folder(tmp_path_factory.mktemp("marian") / "opus-mt-no-en")


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of it, to be changed."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.fixture(scope="module")
def run(folder):
    """The run made of it."""
    path = folder.parent / "run"
    write_run(path, read_model(folder))
    return path


def change(folder, name, **changes):
    """Changes values of a JSON file; None removes one."""
    content = json.loads((folder / name).read_text()) | changes
    content = {key: value for key, value in content.items() if value is not None}
    (folder / name).write_text(json.dumps(content))


def vocabulary_of(folder, tag=None):
    """Returns the Vocabulary that `import` reads."""
    model_folder = ModelFolder(folder)
    return read_vocabulary(model_folder, describe(model_folder, "").ids, tag)


# ---- The run ----


def test_an_entry_of_the_name_of_start_stays_one_beside_it(copy):
    table = json.loads((copy / "vocab.json").read_text())
    names = {number: name for name, number in table.items()} | {9: "<s>"}
    (copy / "vocab.json").write_text(json.dumps({name: number for number, name in names.items()}))
    for side in vocabulary_of(copy)[:2]:
        assert len({*side.names}) == len(side.names) == len(names) + 1
        assert side.names[side.rows.index(9)] == "<s>"


def test_a_run_remembers_what_it_was_made_of(run):
    trained, tokenizer, model = loading.load(run)
    imported = trained.parameters.imported
    assert (imported.model, imported.license) == ("opus-mt-no-en", "cc-by-4.0")
    assert model.languages == ("no", "en")
    assert model.options.activation == "swish"
    assert model.options.beam == 4
    assert imported.entries == tokenizer.vocab_size == model.transformer.config["input_vocab_size"]


def test_each_weight_is_read_and_start_is_never_predicted(folder, run):
    tensors = load_file(folder / "model.safetensors")
    exported = hugging_face.weights(loading.load(run).model.transformer)
    side = vocabulary_of(folder).target
    for name, tensor in tensors.items():
        value = exported[name]
        if name in ("model.shared.weight", "final_logits_bias"):
            table = value.T if name == "final_logits_bias" else value
            theirs = tensor.T if name == "final_logits_bias" else tensor
            kept = [number for number in range(len(side.rows)) if number != START]
            np.testing.assert_array_equal(table[kept], theirs[np.array(side.rows)[kept]])
        else:
            np.testing.assert_array_equal(value, tensor, err_msg=name)
    assert exported["final_logits_bias"][0, START] == NEVER


def test_the_loss_of_fine_tuning_is_finite_with_label_smoothing(run):
    """What is never predicted has a share of it."""
    model = loading.load(run).model
    ids = tf.constant([[START, 5, 6, END]])
    sums = model.forward.token_sums((ids, ids[:, :-1]), ids[:, 1:], label_smoothing=0.1)
    assert float(sums.loss / sums.tokens) < 100


def test_a_source_begins_with_its_text_and_a_target_with_start(run):
    tokenizer = loading.load(run).tokenizer
    (source,), (target,) = tokenizer.encode(["um."]), tokenizer.target.encode(["one."])
    assert START not in source
    assert source[-1] == target[-1] == END
    assert target[0] == START
    assert tokenizer.target.decode([target]) == ["one."]
    assert tokenizer.text_ids(source) == source[:-1]


def test_both_engines_translate_score_and_align_alike(run):
    options = dict(alignments=True, token_scores=True, beam=1, split=False)
    one, other = (
        loading.load_translator(run, engine=engine, **options)
        for engine in ("tensorflow", "ctranslate2")
    )
    for ours, theirs in zip(one.hypotheses(LINES), other.hypotheses(LINES), strict=True):
        assert ours[0].text == theirs[0].text
        assert ours[0].log_probability == pytest.approx(theirs[0].log_probability, abs=1e-3)
        assert ours[0].links == theirs[0].links
    for translate in (one, other):
        assert translate.attend("um dois.").source[0].startswith("▁")  # no START
        (translation,) = translate(["um {name} dois."])  # protected by placement
        assert "{name}" in translation
        (links,) = translate.align([("um dois três.", "one two three.")])
        assert all(source < 3 and target < 3 for source, target in links)


# ---- Fine-tuning ----


@pytest.mark.usefixtures("undrawn", "unscored", "eagerly")
def test_a_run_that_begins_with_it_has_its_weights_vocabulary_license_and_rate(
    run, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(Epochs, "train_on", pretend_epoch)  # adds the same to every weight
    text = write_tsv(tmp_path / "new.tsv", sentences(60, seed=5))
    command = ["--from", run, "--dataset", text, "--run", tmp_path / "tuned", "--epochs", 1]
    assert call(*command) == 0
    tuned, tokenizer, model = loading.load(tmp_path / "tuned")
    parent = loading.load(run)
    assert tuned.parameters.imported == parent.run.parameters.imported
    assert tuned.parameters.corpus.languages == parent.run.parameters.corpus.languages != ()
    assert model.options.learning_rate_scale == parent.model.options.learning_rate_scale
    rate = model.options.learning_rate_scale / (MARIAN_WIDTH * model.options.warmup_steps) ** 0.5
    assert rate == pytest.approx(PEAK_RATE)
    assert tokenizer.sha256 == parent.tokenizer.sha256
    assert tokenizer.table == parent.tokenizer.table
    before = np.asarray(parent.model.transformer.encoder.enc_layers[0].mha.wq.kernel)
    after = np.asarray(model.transformer.encoder.enc_layers[0].mha.wq.kernel)
    np.testing.assert_allclose(after - before, 0.01, atol=1e-6)
    command[5] = tmp_path / "other"
    assert "takes no symbols" in refused(capsys, *command, "--symbols", "<a>")


# ---- Exports ----


def test_the_graph_tokenizer_gives_the_same_ids(run):
    tokenizer = loading.load(run).tokenizer
    texts = [text for text in TEXTS if text.strip()]
    assert [in_graph(tokenizer, text) for text in texts] == tokenizer.encode(texts)


def test_an_export_to_hugging_face_is_imported_again_to_the_bit(run, tmp_path):
    _, tokenizer, model = loading.load(run)
    hugging_face.write(tmp_path / "out", Export(model.transformer, tokenizer))
    write_run(tmp_path / "again", read_model(tmp_path / "out"))
    again = loading.load(tmp_path / "again")
    assert again.tokenizer.encode(TEXTS) == tokenizer.encode(TEXTS)
    assert_same_weights(again.model.transformer, model.transformer)


def test_the_card_of_an_export_carries_name_and_license_on(run, tmp_path, capsys):
    command = "export", "--run", run, "--format", "huggingface", "--to", tmp_path / "out"
    assert call(*command) == 0
    card = (tmp_path / "out" / "README.md").read_text()
    assert 'license: "cc-by-4.0"' in card
    assert 'base_model: "opus-mt-no-en"' in card
    assert "name that model and its authors" in " ".join(card.split())
    assert "trust_remote_code" not in card  # a MarianTokenizer needs no code of ours
    assert "made of opus-mt-no-en, license cc-by-4.0" in capsys.readouterr().err


def test_our_own_export_of_a_trained_run_is_imported_again_to_the_bit(finished, tmp_path):
    assert call("export", "--run", finished / "run", "--format", "huggingface",
                "--to", tmp_path / "out") == 0  # fmt: skip
    assert call("import", tmp_path / "out", "--run", tmp_path / "again") == 0
    before, again = loading.load(finished / "run"), loading.load(tmp_path / "again")
    assert again.tokenizer.encode(TEXTS) == before.tokenizer.encode(TEXTS)
    assert_same_weights(again.model.transformer, before.model.transformer)


def test_what_a_page_cannot_tokenize_is_said(run, tmp_path, capsys):
    for command in (["explore", "um."], ["export", "--format", "html"]):
        assert call(*command, "--run", run, "--to", tmp_path / "page.html") == 2
        assert "cannot tokenize as an imported model does" in capsys.readouterr().err


def test_evaluating_without_files_says_that_there_is_no_text(run, capsys):
    assert "comes without text" in refused(capsys, "evaluate", "--run", run)


# ---- Vocabularies ----


def test_a_model_for_several_languages_needs_a_tag(tmp_path, capsys):
    folder = write_marian_folder(tmp_path / "model", tags=MARIAN_TAGS)
    assert call("import", folder, "--run", tmp_path / "run") == 2
    assert "name one: --tag (por, nld)" in capsys.readouterr().err
    assert call("import", folder, "--run", tmp_path / "run", "--tag", "fra") == 2
    assert "has por, nld" in capsys.readouterr().err
    assert call("import", folder, "--run", tmp_path / "run", "--tag", "nld") == 0
    _, tokenizer, model = loading.load(tmp_path / "run")
    assert model.languages == ("no", "nl")
    (ids,) = tokenizer.encode(["um."])
    assert tokenizer.tokens(ids)[:2] == [">>nld<<", "▁um"]
    assert tokenizer.tokens(tokenizer.text_ids(ids))[0] == "▁um"
    path = tmp_path / "a.argosmodel"
    assert call("export", "--run", tmp_path / "run", "--format", "argos", "--to", path) == 2
    assert "cannot put >>nld<<" in capsys.readouterr().err


def test_two_vocabularies_have_ids_and_sizes_of_their_own(tmp_path):
    folder = write_marian_folder(tmp_path / "model", separate=True)
    write_run(tmp_path / "run", read_model(folder))
    tokenizer = loading.load(tmp_path / "run").tokenizer
    assert tokenizer.tokens(range(4, 20)) != tokenizer.target.tokens(range(4, 20))
    translations = [
        [*loading.load_translator(tmp_path / "run", engine=engine, beam=1)(LINES)]
        for engine in ("tensorflow", "ctranslate2")
    ]
    assert translations[0] == translations[1]


def test_a_piece_that_the_table_lacks_is_unknown(tmp_path):
    folder = write_marian_folder(tmp_path / "model", without=7)
    write_run(tmp_path / "run", read_model(folder))
    tokenizer = loading.load(tmp_path / "run").tokenizer
    ids = [number for line in tokenizer.encode(LINES) for number in line]
    assert UNKNOWN in ids
    assert max(ids) < tokenizer.vocab_size < tokenizer.processor.vocab_size()


@pytest.mark.slow
def test_a_saved_model_and_ctranslate2_take_text_as_the_program_does(run, tmp_path):
    _, tokenizer, model = loading.load(run)
    export = Export(model.transformer, tokenizer)
    saved_model.write(tmp_path / "saved", export)
    loaded = tf.saved_model.load(str(tmp_path / "saved")).signatures["serving_default"]
    expected = [*loading.load_translator(run, beam=1, protect=False, split=False)(LINES[:3])]
    results = loaded(sentences=tf.constant(LINES[:3]))["translations"].numpy()
    assert [text.decode() for text in results] == expected
    ctranslate2_model.write(tmp_path / "ct2", export)
    assert {path.name for path in (tmp_path / "ct2").iterdir()} >= {
        "tokenizer.model",
        "target.model",
    }


@pytest.mark.slow  # imports PyTorch and transformers
@pytest.mark.parametrize("separate", [False, True])
def test_exports_of_an_import_give_the_text_of_the_program(separate, tmp_path):
    """As export.md decodes them."""
    import ctranslate2
    from sentencepiece import SentencePieceProcessor
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = write_marian_folder(tmp_path / "model", separate=separate)
    write_run(tmp_path / "run", read_model(folder))
    _, tokenizer, model = loading.load(tmp_path / "run")
    translate = loading.load_translator(tmp_path / "run", beam=1, protect=False, split=False)
    expected = [*translate(LINES[:3])]
    hugging_face.write(tmp_path / "hf", Export(model.transformer, tokenizer))
    theirs = AutoTokenizer.from_pretrained(tmp_path / "hf")
    network = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "hf")
    for text, line in zip(expected, LINES, strict=False):
        inputs = theirs([line], return_tensors="pt")
        length = inputs["input_ids"].shape[1] + EXTRA_TOKENS
        ids = network.generate(**inputs, num_beams=1, max_length=length + 1)
        assert theirs.batch_decode(ids, skip_special_tokens=True) == [text]
    ctranslate2_model.write(tmp_path / "ct2", Export(model.transformer, tokenizer))
    searcher = ctranslate2.Translator(str(tmp_path / "ct2"))
    sources, targets = (
        SentencePieceProcessor(model_file=str(tmp_path / "ct2" / f"{name}.model"))
        for name in ("tokenizer", "target")
    )
    names = tokenizer.target.tokens(range(tokenizer.target.vocab_size))
    for line in LINES[:3]:  # of random weights, a search hangs on the last bit of a number
        (result,) = searcher.translate_batch([sources.encode(line, out_type=str)], beam_size=1)
        found = [START, *map(names.index, result.hypotheses[0]), END]
        assert targets.decode(result.hypotheses[0]) == tokenizer.target.decode([found])[0]


# ---- Against transformers and the converter of CTranslate2 ----


CONFIGURATIONS = {
    "opus": {},
    "relu": dict(activation_function="relu", encoder_layers=3),
    "big": dict(d_model=24, encoder_attention_heads=4, decoder_attention_heads=4),
    "separate": dict(separate=True),
    "tags": dict(tags=MARIAN_TAGS),
    "lacking": dict(without=7),
}


@pytest.mark.slow  # imports PyTorch and transformers
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_tokens_logits_and_searches_are_those_of_transformers(name, tmp_path):
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    torch.set_num_threads(1)
    folder = write_marian_folder(tmp_path / "model", **CONFIGURATIONS[name])
    tag = "por" if name == "tags" else None
    before = f">>{tag}<< " if tag else ""
    write_run(tmp_path / "run", read_model(folder, tag=tag))
    _, tokenizer, model = loading.load(tmp_path / "run")
    vocabulary = vocabulary_of(folder, tag)
    theirs = MarianTokenizer.from_pretrained(folder)
    for text in TEXTS:
        (ids,) = tokenizer.encode([text])
        assert ids_of_transformers(vocabulary.source, ids) == theirs(before + text)["input_ids"]
        (ids,) = tokenizer.target.encode([text])
        expected = theirs(text_target=text)["input_ids"]
        assert ids_of_transformers(vocabulary.target, ids[1:]) == expected

    network = MarianMTModel.from_pretrained(folder).eval()
    batch = theirs([before + line for line in LINES], return_tensors="pt", padding=True)
    inp = tf.ragged.constant(tokenizer.encode(LINES)).to_tensor()
    tar = tf.constant([[START, 5, 6, 7, 8]] * len(LINES))
    logits, _ = model.transformer((inp, tar))
    ids = torch.tensor([ids_of_transformers(vocabulary.target, row) for row in tar.numpy()])
    with torch.no_grad():
        other = network(**batch, decoder_input_ids=ids).logits.numpy()
    kept = [number for number in range(len(vocabulary.target.rows)) if number != START]
    other = other[..., [vocabulary.target.rows[number] for number in kept]]
    np.testing.assert_allclose(logits.numpy()[..., kept], other, atol=1e-4)

    greedy = loading.load_translator(tmp_path / "run", beam=1, engine="tensorflow", split=False)
    with torch.no_grad():
        generated = network.generate(**batch, num_beams=1, max_new_tokens=20).numpy()
    ours = [found[0].ids for found in greedy.context.engine.search(requests(tokenizer))]
    for ids, expected in zip(ours, generated, strict=True):
        length = min(len(ids), len(expected))
        named = ids_of_transformers(vocabulary.target, ids[1:length])
        assert named == expected[1:length].tolist()


def requests(tokenizer):
    """Returns the Requests of LINES."""
    from nmt.decoding.engines.engine import Request

    return [Request(ids, [], 0) for ids in tokenizer.encode(LINES)]


# ---- What does not fit, is damaged or hostile ----


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("config", dict(model_type="t5"), "the family 't5'; marian and pegasus can be imported"),
        ("config", dict(model_type="pegasus"), "a Pegasus of others"),
        ("config", dict(normalize_before=True), "normalize_before: this network has no such form"),
        ("config", dict(decoder_ffn_dim=99), "ffn_dim: this network"),
        ("config", dict(activation_function="gelu"), "activation: 'gelu' is not one of relu,"),
        ("config", dict(scale_embedding=False), "scale_embedding: this network"),
        ("config", dict(d_model="512"), "d_model is '512', not of type int"),
        ("config", dict(pad_token_id=None), "pad_token_id is None, no number"),
        ("config", dict(eos_token_id=10**6), "are none of vocab.json"),
        ("config", dict(d_model=32), "has the shape"),
        ("config", dict(encoder_layers=5), "its weights lack model.encoder.layers.1"),
        ("config", dict(model_type=["marian"]), "is of the family ['marian']"),
        ("generation_config", dict(length_penalty="x"), "length_penalty is 'x'"),
        ("generation_config", dict(bad_words_ids=5), "are no lists of ids"),
        ("generation_config", dict(bad_words_ids=[["x"], [3]]), "are no lists of ids"),
        ("generation_config", dict(suppress_tokens=[{}]), "are no lists of ids"),
    ],
)
def test_a_configuration_that_does_not_fit_is_one_line(
    copy, tmp_path, file, changes, message, capsys
):
    change(copy, f"{file}.json", **changes)
    check_refused(copy, tmp_path, capsys, message)


def test_words_that_are_never_to_come_do_not(copy, capsys):
    def number_of_banned():
        return (read_model(copy).weights["final_logits_bias"] == NEVER).sum()

    plain = number_of_banned()
    change(copy, "generation_config.json", bad_words_ids=[[7, 8], [9]])
    assert number_of_banned() == plain + 1
    assert "1 row of several tokens" in capsys.readouterr().err
    (copy / "generation_config.json").unlink()  # older folders have it in the configuration
    change(copy, "config.json", num_beams=6, bad_words_ids=[[7]])
    assert read_model(copy).options.beam == 6
    assert number_of_banned() == plain + 1


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "source.spm", "target.spm",
                                  "model.safetensors"])  # fmt: skip
@pytest.mark.parametrize("content", [None, b"[" * 100_000])
def test_a_missing_or_damaged_file_is_named(copy, tmp_path, name, content, capsys):
    (copy / name).unlink()
    if content is not None:
        (copy / name).write_bytes(content)
    missing_weights = content is None and name == "model.safetensors"
    check_refused(copy, tmp_path, capsys, "no model.safetensors or" if missing_weights else name)


@pytest.mark.parametrize("table", [{"a": 0, "b": 0}, {"a": 1, "b": 2}, {"a": True}])
def test_a_table_of_ids_that_contradicts_itself_is_named(copy, tmp_path, table, capsys):
    (copy / "vocab.json").write_text(json.dumps(table))
    check_refused(copy, tmp_path, capsys, "its numbers are not those from 0 on")


def test_a_vocabulary_that_is_not_that_of_the_weights_is_one_line(copy, tmp_path, capsys):
    table = json.loads((copy / "vocab.json").read_text())
    change(copy, "vocab.json", further=len(table))
    check_refused(copy, tmp_path, capsys, "a vocabulary of")


def test_learned_positions_are_refused_and_those_of_the_paper_are_not(copy, tmp_path, capsys):
    from nmt.network.marian import halves
    from transformer_model import positional_encoding

    tensors = load_file(copy / "model.safetensors")
    positions = positional_encoding(8, 16)[0].numpy()[:, halves(16)]
    name = "model.encoder.embed_positions.weight"
    save_file(tensors | {name: np.ascontiguousarray(positions)}, copy / "model.safetensors")
    read_model(copy)
    save_file(tensors | {name: np.ones((8, 16), np.float32)}, copy / "model.safetensors")
    check_refused(copy, tmp_path, capsys, "is learned, and this network computes them")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_no_number_is_named(copy, tmp_path, capsys, value):
    tensors = load_file(copy / "model.safetensors")
    name = sorted(tensors)[0]
    tensors[name].flat[0] = value
    save_file(tensors, copy / "model.safetensors")
    check_refused(copy, tmp_path, capsys, f"the weight {name} holds NaN")


def test_a_tensor_without_a_place_is_named(copy, tmp_path, capsys):
    tensors = load_file(copy / "model.safetensors")
    save_file(tensors | {"model.adapter": np.ones(3, np.float32)}, copy / "model.safetensors")
    assert call("import", copy, "--run", tmp_path / "run") == 0
    assert "Left out, because the network has no place for it: model.adapter." in (
        capsys.readouterr().err
    )


def test_weights_of_more_layers_than_the_configuration_has_are_refused(tmp_path, capsys):
    folder = write_marian_folder(tmp_path / "model", encoder_layers=2)
    change(folder, "config.json", encoder_layers=1)
    check_refused(folder, tmp_path, capsys, "its weights have more layers than config.json says")


@pytest.mark.parametrize("place", ["cache", "config"])
def test_the_name_is_that_of_the_hub_and_languages_keep_their_regions(copy, tmp_path, place):
    snapshot = tmp_path / "models--Helsinki-NLP--opus-mt-no-en" / "snapshots"
    change(copy, "tokenizer_config.json", source_lang="pt_BR", target_lang="eng")
    if place == "config":
        change(copy, "config.json", _name_or_path="Helsinki-NLP/opus-mt-no-en")
    else:
        snapshot.mkdir(parents=True)
        copy = copy.rename(snapshot / "0f1e2d")
    model = read_model(copy)
    assert model.name == "Helsinki-NLP/opus-mt-no-en"
    assert model.languages == ("pt-BR", "en")


def test_a_copy_of_a_run_without_the_model_of_the_target_names_it(run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "target.model").unlink()
    assert call("translate", "--run", tmp_path / "run", "um.") == 2
    assert "target.model: No such file or directory; restore the file" in (capsys.readouterr().err)


@pytest.mark.parametrize("change_of", [dict(entries=10**6), dict(tag=">>xx<<"), dict(entries="3")])
def test_damaged_parameters_of_an_import_are_one_line(run, tmp_path, capsys, change_of):
    shutil.copytree(run, tmp_path / "run")
    path = tmp_path / "run" / "params.json"
    content = json.loads(path.read_text())
    content["imported"] |= change_of
    path.write_text(json.dumps(content))
    assert call("translate", "--run", tmp_path / "run", "um.") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


class Harmful:
    """What a hostile pickle does when it is read."""

    def __reduce__(self):
        return exec, ("open('harm', 'w').close()",)


@pytest.mark.slow  # imports PyTorch
def test_a_pickle_runs_no_code(folder, copy, tmp_path, capsys, monkeypatch):
    import torch

    monkeypatch.chdir(tmp_path)
    (copy / "model.safetensors").unlink()
    harmful = copy / "pytorch_model.bin"
    harmful.write_bytes(pickle.dumps(Harmful()))
    check_refused(copy, tmp_path, capsys, "holds more than weights, or is damaged")
    with zipfile.ZipFile(harmful, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Harmful()))
        archive.writestr("archive/version", "3")
    check_refused(copy, tmp_path, capsys, "holds more than weights, or is damaged")
    assert not (tmp_path / "harm").exists()
    tensors = load_file(folder / "model.safetensors")
    content = io.BytesIO()
    torch.save({name: torch.from_numpy(tensor) for name, tensor in tensors.items()}, content)
    harmful.write_bytes(content.getvalue())
    for name, value in read_model(copy).weights.items():
        np.testing.assert_array_equal(value, read_model(folder).weights[name])


def test_an_index_of_files_of_weights_leads_to_none_elsewhere(folder, copy, tmp_path, capsys):
    tensors = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    names = [*tensors]
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, kept in parts.items():
        save_file({name: tensors[name] for name in kept}, copy / file)
    weight_map = {name: file for file, kept in parts.items() for name in kept}
    index = copy / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weight_map}))
    assert read_model(copy).weights.keys() == read_model(folder).weights.keys()
    index.write_text(json.dumps({"weight_map": {"x": "../../secret.safetensors"}}))
    check_refused(copy, tmp_path, capsys, "names no files of weights beside it")


def test_an_existing_folder_is_not_touched(folder, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    assert "exists already" in refused(capsys, "import", folder, "--run", tmp_path / "run")
    assert not [*(tmp_path / "run").iterdir()]


def assert_same_weights(transformer, other):
    pairs = zip(transformer.trainable_variables, other.trainable_variables, strict=True)
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours, theirs)


def check_refused(folder, tmp_path, capsys, message):
    """Checks that the import of a folder ends in one line, and leaves nothing."""
    capsys.readouterr()
    line = refused(capsys, "import", folder, "--run", tmp_path / "run")
    assert message in line
    assert re.search(r"; [a-z]", line)  # how to mend it
    assert not (tmp_path / "run").exists()
