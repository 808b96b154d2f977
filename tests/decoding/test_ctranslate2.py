"""What must hold of CTranslate2's engine: it finds, scores and attends as TensorFlow's."""

import functools
import itertools
from typing import NamedTuple

import numpy as np
import pytest
from helpers import as_dataset, network_for, networks_of, sentences

from nmt import UserError
from nmt.corpus.vocabulary import train_tokenizer
from nmt.decoding import translator
from nmt.decoding.batch_sizes import Batching
from nmt.decoding.engines import choice, ctranslate2_weights
from nmt.decoding.engines.choice import choose_engine, tensorflow_engine
from nmt.decoding.engines.ctranslate2 import CTranslate2Engine
from nmt.decoding.engines.engine import Converted, EngineSettings, IdPair, PairScore, Request
from nmt.decoding.engines.tensorflow import TensorFlowEngine
from nmt.decoding.search_options import EXTRA_TOKENS, Repetition, Sampling, SearchOptions
from nmt.decoding.translator import Translator
from nmt.runs import loading
from nmt.text.tokenizer import Tokenizer
from transformer_model import END, PAD, START, Transformer

SETTINGS = EngineSettings(rows=3, workers=2)  # several batches
PAIRS = sentences(12, seed=1)
LINES = [source for source, _ in PAIRS]


@functools.cache
def definition_of(transformer, options):
    """Returns an engine of TensorFlow, made once: to trace its searches takes long."""
    return tensorflow_engine(networks_of(transformer), options, SETTINGS)


class Weights(NamedTuple):
    """A network of random weights, and where they are for CTranslate2."""

    transformer: Transformer
    tokenizer: Tokenizer
    folder: str

    def engine(self, **options):
        """Returns the engine of CTranslate2."""
        return CTranslate2Engine(
            Converted(self.folder), self.tokenizer, SearchOptions(**options), SETTINGS,
            lambda: self.definition(**options),
        )  # fmt: skip

    def definition(self, **options):
        """Returns the engine of TensorFlow."""
        return definition_of(self.transformer, SearchOptions(**options))

    def requests(self, prefix=()):
        """Returns a Request for each of LINES."""
        return [Request(ids, [*prefix]) for ids in self.tokenizer.encode(LINES)]


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer of numbered sentences."""
    pairs = [
        (f"{n} {source}", f"{n} {target}") for n, (source, target) in enumerate(sentences(1000))
    ]
    return Tokenizer(train_tokenizer(as_dataset(pairs), 330))


def weights_in(folder, tokenizer, end):
    """Returns the Weights of a network whose logits have a bias for END."""
    transformer = network_for(tokenizer, end, num_layers=2)
    ctranslate2_weights.save(folder / "engine", transformer, tokenizer)
    return Weights(transformer, tokenizer, folder / "engine")


@pytest.fixture(scope="module")
def trained(finished, tmp_path_factory):
    """Weights that have learned: translations vary, and beams are not a matter of rounding."""
    _, tokenizer, model = loading.load(finished / "run")
    folder = tmp_path_factory.mktemp("trained") / "engine"
    ctranslate2_weights.save(folder, model.transformer, tokenizer)
    return Weights(model.transformer, tokenizer, folder)


@pytest.fixture(scope="module")
def ending(tokenizer, tmp_path_factory):
    """Weights whose translations end early."""
    return weights_in(tmp_path_factory.mktemp("ending"), tokenizer, end=3)


@pytest.fixture(scope="module")
def endless(tokenizer, tmp_path_factory):
    """Weights whose translations never end."""
    return weights_in(tmp_path_factory.mktemp("endless"), tokenizer, end=-99)


def assert_same(lists, expected):
    """Asserts that lists of hypotheses are the same but for rounding."""
    for hypotheses, definition in zip(lists, expected, strict=True):
        assert [one.ids for one in hypotheses] == [one.ids for one in definition]
        for one, other in zip(hypotheses, definition, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-3)
            assert one.score == pytest.approx(other.score, abs=1e-3)
            assert one.finished == other.finished


# ---- Search ----


@pytest.mark.parametrize("prefix", [0, 2], ids=["free", "prefix"])
@pytest.mark.parametrize(
    "options", [{}, dict(beam=3), dict(beam=3, length_penalty=0.0), dict(beam=3, n_best=3)],
    ids=["greedy", "beam", "no penalty", "list"],
)  # fmt: skip
def test_the_best_is_what_tensorflow_finds(trained, options, prefix):
    targets = trained.tokenizer.encode([target for _, target in PAIRS])
    requests = [
        request._replace(prefix=target[1 : 1 + prefix])
        for request, target in zip(trained.requests(), targets, strict=True)
    ]
    expected = trained.definition(**options).search(requests)
    results = trained.engine(**options).search(requests)
    size = options.get("n_best", 1)
    assert len({tuple(best.ids) for best, *_ in results}) > 3
    assert_same([best[:size] for best in results], [best[:size] for best in expected])


@pytest.mark.parametrize("beam", [1, 3])
def test_without_scores_the_translations_are_the_same(trained, beam):
    requests = trained.requests()
    expected = trained.definition(beam=beam).search(requests, scored=False)
    results = trained.engine(beam=beam).search(requests, scored=False)
    assert [best.ids for best, *_ in results] == [best.ids for best, *_ in expected]


def test_an_empty_translation_is_found(tokenizer, tmp_path):
    weights = weights_in(tmp_path, tokenizer, end=99)
    for beam in (1, 3):
        results = weights.engine(beam=beam).search(weights.requests())
        assert {tuple(best.ids) for best, *_ in results} == {(START, END)}


@pytest.mark.parametrize("beam", [1, 3])
def test_each_translation_ends_at_the_limit_of_its_source(endless, beam):
    """Whatever the length of others in its batch."""
    requests = endless.requests()
    assert len({request.length for request in requests}) > 1
    results = endless.engine(beam=beam).search(requests)
    expected = endless.definition(beam=beam).search(requests)
    for request, (best, *_), (definition, *_) in zip(requests, results, expected, strict=True):
        assert not best.finished
        assert END not in best.ids
        assert len(best.ids) == 1 + request.length + EXTRA_TOKENS == len(definition.ids)


def test_each_step_is_reported_with_the_prefix_once(ending):
    reports = []
    (request, *_) = ending.requests((300, 301))
    ((best,),) = ending.engine().search([request], on_token=lambda ids: not reports.append(ids))
    assert best == ending.engine().search([request])[0][0]
    steps = [ids for ids, following in itertools.pairwise([*reports, []]) if ids != following]
    assert steps == [best.ids[:length] for length in range(2, len(best.ids) + 1)]


def test_a_beam_reports_its_end(ending):
    reports = []
    (request, *_) = ending.requests()
    engine = ending.engine(beam=3)
    ((best, *_),) = engine.search([request], on_token=lambda ids: not reports.append(ids))
    assert reports == [best.ids]
    with pytest.raises(ValueError, match="of one request, not of 2"):
        engine.search([request, request], on_token=lambda _: True)


def test_a_search_ends_where_its_report_returns_false(endless):
    (request, *_) = endless.requests()
    ((best,),) = endless.engine().search([request], on_token=lambda ids: len(ids) < 4)
    assert len(best.ids) == 4
    assert not best.finished


# ---- Given pairs ----


@pytest.fixture(scope="module")
def pairs(ending):
    """Pairs of several lengths, one of them empty, one not finished."""
    ids = ending.tokenizer.encode(LINES)
    given = [IdPair(source, target) for source, target in itertools.pairwise(ids)]
    return [*given, IdPair(ids[0], [START, END]), IdPair(ids[0], ids[1][:-1])]


def test_scores_are_those_of_tensorflow(ending, pairs):
    scores = ending.engine().score(pairs)
    expected = ending.definition().score(pairs)
    assert all(score.tokens == [] for score in scores)
    totals = [score.log_probability for score in expected]
    assert [score.log_probability for score in scores] == pytest.approx(totals, abs=1e-3)


@pytest.mark.parametrize("alternatives", [0, 5])
def test_scores_of_tokens_are_those_of_tensorflow(ending, pairs, alternatives):
    scores = ending.engine().score(pairs, tokens=True, alternatives=alternatives)
    expected = ending.definition().score(pairs, tokens=True, alternatives=alternatives)
    for pair, score, definition in zip(pairs, scores, expected, strict=True):
        assert len(score.tokens) == len(pair.target) - 1
        for token, other in zip(score.tokens, definition.tokens, strict=True):
            assert token.log_probability == pytest.approx(other.log_probability, abs=1e-3)
            assert len(token.alternatives) == alternatives
            assert [number for number, _ in token.alternatives] == [
                number for number, _ in other.alternatives
            ]
            assert [total for _, total in token.alternatives] == pytest.approx(
                [total for _, total in other.alternatives], abs=1e-3
            )


def test_attention_is_that_of_tensorflow(ending, pairs):
    attended = ending.engine().attend(pairs)
    expected = ending.definition().attend(pairs)
    for attention, definition in zip(attended, expected, strict=True):
        np.testing.assert_allclose(attention.cross, definition.cross, atol=1e-5)
        assert attention.weights == {}
    (full,) = ending.engine().attend(pairs[:1], every_layer=True)
    (expected_full,) = ending.definition().attend(pairs[:1], every_layer=True)
    assert full.weights.keys() == expected_full.weights.keys() != {}


# ---- The choice ----

OBSTACLES = [
    (dict(plain=True), "--plain"),
    (dict(sampling=Sampling()), "it does not apply --sample"),
    (dict(repetition=Repetition(2.0)), "it does not apply --repetition-penalty"),
]


def chosen(weights, wanted=choice.AUTO, converted=True, **options):
    """Returns the engine that is chosen for a search."""
    return choose_engine(
        SearchOptions(**options), SETTINGS,
        choice.Weights(
            weights.tokenizer, lambda: networks_of(weights.transformer),
            converted=(lambda: Converted(weights.folder)) if converted else None,
        ),
        wanted,
    )  # fmt: skip


def test_ctranslate2_is_chosen_where_it_can_do_what_is_asked(ending):
    assert isinstance(chosen(ending, beam=3, n_best=2), CTranslate2Engine)
    assert isinstance(chosen(ending, choice.TENSORFLOW), TensorFlowEngine)


@pytest.mark.parametrize("name", [choice.CTRANSLATE2, choice.STORY])
def test_an_option_that_an_engine_does_not_name_is_refused(ending, name):
    kind = choice.KINDS[name]
    weights = choice.Weights(
        ending.tokenizer, lambda: None, converted=lambda: Converted(ending.folder)
    )
    assert kind.obstacle(SearchOptions(length_penalty=2.0), weights) == ""
    others = kind._replace(applies=("beam",))  # as if the penalty were a new option
    assert "does not apply --length-penalty" in others.obstacle(
        SearchOptions(length_penalty=2.0), weights
    )
    of_both = SearchOptions(sampling=Sampling(), repetition=Repetition(2.0))
    assert of_both.beyond(choice.KINDS[choice.TENSORFLOW].applies) == []
    assert (
        kind.obstacle(of_both, weights)
        == "it does not apply --sample and --repetition-penalty, --no-repeat-ngram"
    )


@pytest.mark.parametrize(("options", "reason"), OBSTACLES)
def test_what_ctranslate2_cannot_do_is_left_to_tensorflow_or_refused(ending, options, reason):
    assert isinstance(chosen(ending, **options), TensorFlowEngine)
    with pytest.raises(UserError, match=reason):
        chosen(ending, choice.CTRANSLATE2, **options)


def test_weights_that_it_cannot_read_are_left_to_tensorflow_or_refused(ending):
    assert isinstance(chosen(ending, converted=False), TensorFlowEngine)
    with pytest.raises(UserError, match="an ensemble"):
        chosen(ending, choice.CTRANSLATE2, converted=False)


def test_without_its_package_tensorflow_translates_and_says_so_once(ending, monkeypatch, capsys):
    monkeypatch.setattr(choice.importlib.util, "find_spec", lambda _: None)
    choice.log_once.cache_clear()
    for _ in range(2):
        assert isinstance(chosen(ending), TensorFlowEngine)
    assert capsys.readouterr().err.count("pip install ctranslate2") == 1
    chosen(ending, choice.TENSORFLOW)
    with pytest.raises(UserError, match=r"missing \(pip install ctranslate2\); leave out what"):
        chosen(ending, choice.CTRANSLATE2)
    assert capsys.readouterr().err == ""


def test_padding_and_start_are_never_generated(tokenizer, tmp_path):
    weights = weights_in(tmp_path, tokenizer, end=3)
    kernel, bias = weights.transformer.final_layer.get_weights()
    bias[[PAD, START]] += 99
    weights.transformer.final_layer.set_weights([kernel, bias])
    folder = tmp_path / "biased"
    ctranslate2_weights.save(folder, weights.transformer, tokenizer)
    results = weights._replace(folder=folder).engine(beam=3).search(weights.requests())
    assert all(not {PAD, START} & {*best.ids[1:]} for best, *_ in results)


def test_an_end_alone_has_attention_and_a_score(ending):
    pair = IdPair([START, END], [START, END])
    (attention,) = ending.engine().attend([pair])
    assert attention.cross.shape[1:] == (2,)
    (score,) = ending.engine().score([pair], tokens=True)
    assert len(score.tokens) == 1


# ---- Lines ----


def test_batches_computed_at_once_share_sentences_that_fit_one():
    batching = Batching(rows=None, beam=1)
    sizes = [
        [len(batch) for batch in batching.batches(range(number), lambda _: 10, at_once=2)]
        for number in (32, 80, 1000)
    ]
    assert sizes == [[32], [40, 40], [204, 204, 204, 204, 184]]
    assert [len(batch) for batch in batching.batches(range(80), lambda _: 10)] == [80]


def test_lines_of_several_groups_come_back_in_their_order(trained, monkeypatch):
    monkeypatch.setattr(translator, "GROUP_LINES", 2)
    translate = Translator(trained.engine(beam=1), trained.tokenizer)
    lines = [*LINES[:5], "", "4711", LINES[5]]
    together = [best.text for best, *_ in translate.hypotheses(lines)]
    assert together == [next(iter(translate([line]))) for line in lines]
    words = [text.split(" ")[0] for text in together]
    for word, (best, *_) in zip(words, translate.hypotheses(lines, prefixes=words), strict=True):
        assert best.text.startswith(word)


def test_an_error_in_one_of_several_groups_is_raised(trained, monkeypatch):
    monkeypatch.setattr(translator, "GROUP_LINES", 2)
    engine = trained.engine(beam=1)
    translate = Translator(engine, trained.tokenizer)
    monkeypatch.setattr(engine, "search", lambda *_: pytest.fail("searched"))
    with pytest.raises(pytest.fail.Exception, match="searched"):
        next(translate(LINES))


def test_hypotheses_that_are_scored_anew_are_ranked_anew(trained, monkeypatch):
    engine = trained.engine(beam=4, n_best=4, length_penalty=0.0)
    request, *_ = trained.requests()
    (before,) = engine.search([request])
    scores = [PairScore(float(number) - 100, []) for number in range(len(before))]
    monkeypatch.setattr(engine, "score", lambda pairs: scores)
    (after,) = engine.search([request])
    assert [one.ids for one in after] == [one.ids for one in before][::-1]
