"""The page that runs a model in the browser: one HTML file with weights, vocabulary and program.

page.html is the frame, style.css the look, texts.json what is said in each language. What computes
is in nmt/exports/browser/, which is read first; sentences.js of nmt/exports/html/ divides text into
sentences. The rest is read in the order of SCRIPTS:
confidence.js says how sure a translation is;
starting.js, in a script of its own before all others, reports what they cannot read or start;
by_hand.js explains a single attention weight, drawing.js draws; attention.js, flow.js, decoding.js,
tree.js, map.js, block.js, what_if.js, learning.js, inside.js and exercises.js are parts of the
page; sections.js folds them, tour.js leads through them, address.js writes what is seen into the
address; page.js connects all with the frame. What learns in a worker is in learning/.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from nmt import UserError
from nmt.decoding import tokens
from nmt.decoding.confidence import DOUBTFUL, Estimator
from nmt.decoding.translator import Translator
from nmt.exports import html_file
from nmt.exports.browser import browser_model
from nmt.exports.browser.blocks import blocks
from nmt.messages import log, plural
from nmt.results import texts
from nmt.results.explorer.learning import short_pairs
from nmt.results.explorer.page_files import FOLDER
from nmt.text.tokenizer import Tokenizer
from transformer_model import Transformer

SCRIPTS = (
    "confidence.js", "by_hand.js", "drawing.js", "attention.js", "flow.js", "decoding.js",
    "tree.js", "map.js", "block.js", "what_if.js", "learning.js", "inside.js", "sections.js",
    "exercises.js", "tour.js", "address.js", "page.js",
)  # fmt: skip
STARTING = "starting.js"
LEARNER = ("gradients.js", "transformer.js", "tasks.js", "training.js", "worker.js")  # in learning/
MAX_TOKENS = 200  # of a sentence: its weights are their square, per head and layer


class Example(NamedTuple):
    """A sentence that the page offers."""

    text: str
    translation: str
    target: list[int]  # ids by the run's search, START first; [] for the page's greedy search


def example(translator: Translator, text: str) -> Example:
    """Returns a sentence that the page offers, translated as `translate` does it."""
    sentence = translator.whole(text)
    target = tokens.ids_of_translation(translator.context, sentence)
    return Example(text, sentence.translation, target)


def examples(translator: Translator, lines: Sequence[str], are_chosen: bool) -> list[Example]:
    """Returns the sentences of lines that the page offers, translated as `translate` does it.

    Sentences of more than MAX_TOKENS tokens are left out; if the user has chosen them, a UserError.
    """
    sentences = [text for line in lines for text, _ in translator.parts(line) if text]
    encoded = translator.tokenizer.encode(sentences) if sentences else []
    lengths = [len(ids) for ids in encoded]
    short = [text for text, length in zip(sentences, lengths, strict=True) if length <= MAX_TOKENS]
    long = [text for text, length in zip(sentences, lengths, strict=True) if length > MAX_TOKENS]
    if long and are_chosen:
        raise UserError(f"{long[0][:40]!r}...: more than {MAX_TOKENS} tokens; explore a part of it")
    if long:
        log.info(
            f"The page leaves out {plural(len(long), 'sentence')} of the test split, of more than "
            f"{MAX_TOKENS} tokens."
        )
    return [example(translator, text) for text in short]


def blocks_of_page(transformer: Transformer) -> list[list[dict[str, Any]]]:
    """Returns the blocks of the map, of encoder and decoder, with fields by name.

    Title and detail are in the languages of texts.json: [English, Chinese].
    """
    in_english, in_chinese = (blocks(transformer, say) for say in (texts.english, texts.chinese))
    return [
        [
            block._asdict()
            | dict(title=[block.title, other.title], detail=[block.detail, other.detail])
            for block, other in zip(column, column_in_chinese, strict=True)
        ]
        for column, column_in_chinese in zip(in_english, in_chinese, strict=True)
    ]


def learner(names: Sequence[str]) -> str:
    """Returns scripts of learning/, after what they share with the network of the run."""
    shared = browser_model.scripts(browser_model.FOLDER, ["network.js", "search.js"])
    return f"{shared}\n{browser_model.scripts(FOLDER / 'learning', names)}"


def assemble(
    run: str,
    transformer: Transformer,
    tokenizer: Tokenizer,
    examples: Sequence[Example],
    languages: Sequence[str] = (),
    estimator: Estimator | None = None,
) -> str:
    """Returns the page as HTML.

    By the rules of `languages`, codes of source and target, the page recognizes a text of several
    sentences; where they are unknown, of no text. Without an estimator, it marks no doubt.
    """
    data = dict(
        run=run,
        parameters=transformer.count_params(),
        blocks=blocks_of_page(transformer),
        examples=[example._asdict() for example in examples],
        sentences=html_file.sentence_rules(tokenizer, languages[0]) if languages else None,
        words=browser_model.word_rules(languages),
        estimator=estimator and estimator._asdict(),
        doubtful=DOUBTFUL,
        pairs=short_pairs(),
    )
    programs = {
        "STARTING": browser_model.scripts(FOLDER, [STARTING]),
        "SENTENCES": browser_model.scripts(html_file.FOLDER, ["sentences.js"]),
        "LEARNER": learner(LEARNER),
        "PROGRAM": browser_model.scripts(FOLDER, SCRIPTS),
    }
    return browser_model.fill_page(FOLDER, transformer, tokenizer, data, programs)
