"""What must hold of a search that reports each step: it finds what it finds without reports."""

import pytest
from helpers import make_translator, network_for, sentences

from nmt import UserError
from nmt.decoding.engines.engine import Request
from nmt.decoding.search_options import Repetition, Sampling
from transformer_model import END, START


@pytest.fixture(scope="module")
def transformer(tokenizer):
    return network_for(tokenizer)


@pytest.mark.parametrize(
    "options",
    [{}, dict(beam=3), dict(repetition=Repetition(2.0), sampling=Sampling(seed=3))],
    ids=["greedy", "beam", "sampling"],
)
def test_a_search_that_reports_finds_the_same(transformer, tokenizer, options):
    engine = make_translator(transformer, tokenizer, **options).context.engine
    sources = tokenizer.encode([source for source, _ in sentences(3)])
    reports = []
    for number, source in enumerate(sources):
        request = Request(source, [300] * number, sample=number)
        reports.clear()
        ((expected, *_),) = engine.search([request])
        ((best, *_),) = engine.search([request], on_token=lambda ids: not reports.append(ids))
        assert best.ids == expected.ids
        assert best.score == pytest.approx(expected.score, rel=1e-4)
        assert reports[0] == [START]
        assert len(reports) >= len(best.ids) - 1


def test_a_search_ends_where_its_report_returns_false(transformer, tokenizer):
    engine = make_translator(transformer, tokenizer).context.engine
    (source,) = tokenizer.encode(["um dois três"])
    ((best,),) = engine.search([Request(source)], on_token=lambda ids: len(ids) < 3)
    assert len(best.ids) <= 4
    assert best.ids[-1] == END


def test_the_plain_loop_refuses_to_report(transformer, tokenizer):
    engine = make_translator(transformer, tokenizer, plain=True).context.engine
    (source,) = tokenizer.encode(["um dois"])
    with pytest.raises(UserError, match="--plain"):
        engine.search([Request(source)], on_token=lambda _: True)
