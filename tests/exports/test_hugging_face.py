"""What must hold of an export to Hugging Face: transformers computes the program's numbers."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf
from helpers import sentences, transformer_for

from nmt.decoding.search import greedy_search
from nmt.exports import hugging_face
from nmt.exports.exported_model import Export, ModelCard, Score

SCORE = Score(99.04, 0.5, "nrefs:1|case:mixed|tok:13a|version:2.6.0")
CARD = ModelCard("numbers", "spelled-out numbers", 1, 1.0, {"BLEU": SCORE}, ("no", "en"))


def network(tokenizer, **options):
    return transformer_for(tokenizer, d_model=16, num_heads=4, dff=24, **options)


@pytest.mark.slow  # imports PyTorch and transformers
@pytest.mark.parametrize(
    ("pre_norm", "tie_embeddings", "decoder_layers"), [(False, True, 1), (True, False, 2)]
)
def test_logits_and_translations_are_those_of_the_program(
    tokenizer, tmp_path, capsys, pre_norm, tie_embeddings, decoder_layers
):
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    torch.set_num_threads(1)  # threads that wait for each other on a busy machine keep it busy
    transformer = network(
        tokenizer, pre_norm=pre_norm, tie_embeddings=tie_embeddings, decoder_layers=decoder_layers
    )
    hugging_face.write(tmp_path / "model", Export(transformer, tokenizer, card=CARD))
    model, loading = AutoModelForSeq2SeqLM.from_pretrained(
        tmp_path / "model", output_loading_info=True
    )
    assert not any(loading.values())  # no missing keys, no unexpected ones
    assert "not valid" not in capsys.readouterr().err  # of generation_config.json
    lines = [source for source, _ in sentences(20, seed=1)]
    batch = AutoTokenizer.from_pretrained(tmp_path / "model")(
        lines, return_tensors="pt", padding=True
    )
    inp = batch["input_ids"].numpy()
    assert inp.tolist() == tf.ragged.constant(tokenizer.encode(lines)).to_tensor().numpy().tolist()
    logits, _ = transformer((inp, inp[:, :5]))  # (B, 5, V)
    with torch.no_grad():
        others = model(**batch, decoder_input_ids=torch.tensor(inp[:, :5])).logits
        ids = model.generate(**batch, num_beams=1, max_new_tokens=12)
    np.testing.assert_allclose(others, logits, atol=3e-4)
    greedy = greedy_search(transformer, tf.constant(inp)).ids[:, 0, : ids.shape[1]]
    np.testing.assert_array_equal(ids, greedy)


def front_matter(text):
    """Returns the fields of a model card, each of which is a line of YAML with a value in JSON."""
    lines = text.split("---\n")[1].splitlines()
    return {name: json.loads(value) for name, value in (line.split(": ", 1) for line in lines)}


def test_the_card_names_corpus_and_scores(tokenizer):
    text = hugging_face.card_text(CARD, network(tokenizer, decoder_layers=1), tokenizer)
    assert "neither protected nor repaired here" in text
    assert "2 layers in the encoder and 1 in the decoder" in text
    assert "spelled-out numbers" in text
    assert "| BLEU | 99.0 ± 0.5 | `nrefs:1\\|case:mixed\\|tok:13a\\|version:2.6.0` |" in text
    fields = front_matter(text)
    assert (fields["license"], fields["language"]) == ("unknown", ["no", "en"])
    (model,) = fields["model-index"]
    (result,) = model["results"]
    assert result["dataset"] == {
        "type": "spelled-out numbers", "name": "spelled-out numbers", "split": "test",
    }  # fmt: skip
    assert result["metrics"] == [{"type": "bleu", "name": "BLEU", "value": 99.0}]
    unscored = hugging_face.card_text(
        dataclasses.replace(CARD, scores={}), network(tokenizer), tokenizer
    )
    assert "Not scored yet." in unscored
    assert "model-index" not in front_matter(unscored)


def test_the_length_penalty_is_named_for_a_beam_alone(tokenizer):
    assert "length_penalty" not in hugging_face.generation(CARD, tokenizer)
    wide = dataclasses.replace(CARD, beam=4)
    assert hugging_face.generation(wide, tokenizer)["length_penalty"] == 1.0


def test_others_may_read_what_others_may_read(tokenizer, tmp_path):
    """safetensors makes its files private, whatever the user's mask says."""
    hugging_face.write(tmp_path / "model", Export(network(tokenizer), tokenizer, card=CARD))
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()}
    probe = tmp_path / "probe"
    probe.touch()
    assert modes == {probe.stat().st_mode & 0o777}


@pytest.mark.slow  # imports PyTorch and transformers, and trains
def test_the_usual_recipe_fine_tunes_a_model(tokenizer, tmp_path):
    import torch
    from transformers import (
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
        DataCollatorForSeq2Seq,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
    )  # fmt: skip

    torch.set_num_threads(1)
    path = tmp_path / "model"
    hugging_face.write(path, Export(network(tokenizer, rate=0.0), tokenizer, card=CARD))
    exported = AutoTokenizer.from_pretrained(path, trust_remote_code=True)
    model = AutoModelForSeq2SeqLM.from_pretrained(path)
    sources, targets = ["um dois.", "três.", "nove um."], ["one two.", "three.", "nine one."]
    encoded = exported(sources, text_target=targets)
    whole = [list(ids) for ids in tokenizer.encode(sources)]
    assert encoded["input_ids"] == whole == exported(sources)["input_ids"]
    assert encoded["labels"] == [list(ids)[1:] for ids in tokenizer.encode(targets)]
    rows = [{name: encoded[name][number] for name in encoded} for number in range(len(sources))]
    trainer = Seq2SeqTrainer(
        model,
        Seq2SeqTrainingArguments(
            output_dir=tmp_path / "out", max_steps=150, learning_rate=0.01, report_to=[],
            per_device_train_batch_size=4, use_cpu=True, save_strategy="no", disable_tqdm=True,
        ),
        train_dataset=rows,
        data_collator=DataCollatorForSeq2Seq(exported, model=model),
    )  # fmt: skip
    assert trainer.train().training_loss > trainer.evaluate(rows)["eval_loss"]
    batch = exported(sources, return_tensors="pt", padding=True)
    ids = model.eval().generate(**batch, num_beams=1, max_new_tokens=40)
    assert exported.batch_decode(ids, skip_special_tokens=True) == targets
