"""The commands of a trained run: translate, score, evaluate, export, explore, plot; runs and data.

Libraries that only one command needs, such as matplotlib, are imported in that command.
"""

import itertools
import json
import os
import re
import sys
from pathlib import Path

from tqdm import tqdm

import params
from nmt import UserError, output
from nmt.cli import command_flags, flags, sentences_given
from nmt.cli.data_report import show as data
from nmt.decoding.alignment import pharaoh
from nmt.decoding.repetition import Repetition
from nmt.decoding.sampling import Sampling
from nmt.messages import log, plural
from nmt.results import evaluation
from nmt.runs import loading
from nmt.runs.folder import Run
from nmt.runs.listing import show as runs
from nmt.text import bleu_tokenizer, corpora, files, spelling
from nmt.text.batches import training_batches
from nmt.training import checkpoints, devices

__all__ = ["align", "data", "evaluate", "explore", "export", "plot", "runs", "score", "translate"]


def load_named(args):
    """Returns what `loading.load_ensemble` returns for the runs, checkpoint and flags in `args`."""
    paths = [args.run, *getattr(args, "ensemble", ())]
    plain = getattr(args, "plain", False)
    return loading.load_ensemble(paths, args.checkpoint, plain=plain, **flags.given(args))


def with_progress(results):
    """Yields `results` and shows their number and rate, if stderr is a terminal."""
    return tqdm(results, unit="line", file=sys.stderr, disable=None, leave=False)


def translate(args):
    """Prints the translation, or the `n_best`, of each argument or line of stdin."""
    if (args.token_scores or args.alternatives) and args.format != "jsonl":
        raise UserError("--token-scores and --alternatives need --format jsonl; add that")
    chunks = sentences_given.chunks(args)
    sampling, prefixes = sampling_of(args), prefixes_of(args)
    if args.plain and args.beam is None:
        args.beam = 1  # whatever the run's own
    devices.run_plainly(args)
    _, tokenizer, model = load_named(args)
    beam = model.options["beam"]
    if not sampling and args.n_best > beam and not model.options["non_autoregressive"]:
        raise UserError(
            f"--n-best {args.n_best} needs a --beam of as many, and it is {beam}; add --beam "
            f"{args.n_best}, or --sample"
        )
    more = dict(beam=1, sampling=sampling) if sampling else {}
    names = "plain", "n_best", "mbr", "alignments", "token_scores", "alternatives"
    more |= {name: getattr(args, name) for name in names}
    if args.repetition_penalty > 1 or args.no_repeat_ngram:
        more["repetition"] = Repetition(args.repetition_penalty, args.no_repeat_ngram)
    translator = model.text_translator(tokenizer, args.split, **more)
    args.n_best = 1 if args.mbr else args.n_best  # as printed
    write = FORMATS[args.format]
    more = dict(prefixes=prefixes, scored=args.score or args.format != "text")
    if sentences_given.typed(args):  # a warning comes with its sentence
        found = (best for chunk in chunks for best in translator.translate_chunks([chunk], **more))
    else:
        found = with_progress(translator.translate_chunks(chunks, **more))
    for number, best in enumerate(found, start=1):
        for line in write(number, best, args):
            print(line)
    if args.prefixes and next(prefixes, None) is not None:
        raise UserError(f"--prefixes {args.prefixes}: more lines than the input; cut it")


def prefixes_of(args):
    """Returns an iterator of what the translation of each line is to begin with."""
    if args.prefixes is None:
        return itertools.repeat(args.prefix or "")
    return files.read_lines(args.prefixes)


def sampling_of(args):
    """Returns the Sampling that the flags of `translate` describe; None for a search.

    Raises:
      UserError: they contradict each other.
    """
    given = {name: getattr(args, name) for name in Sampling._fields}
    given = {name: value for name, value in given.items() if value is not None}
    if args.sample and args.beam is not None:
        raise UserError("--sample draws one token at a time: leave --beam out")
    if given and not args.sample:
        flag = next(iter(given)).replace("_", "-")
        raise UserError(f"--{flag} goes with --sample; add that, or leave it out")
    return Sampling(**given) if args.sample else None


def as_text(number, best, args):
    """Yields the lines of text for one line's hypotheses: `n_best` of them, the last ones empty."""
    columns = args.score or args.n_best > 1 or args.alignments
    for text, log_probability, *links in best:
        text = one_line(text) if columns else text
        row = [f"{log_probability:.4f}", text] if args.score else [text]
        yield "\t".join([*row, *map(pharaoh, links)])
    yield from [""] * (args.n_best - len(best))  # so that line n belongs to line n / n_best


def as_tsv(number, best, args):
    """Yields line number, rank, log-probability and translation, separated by tabs."""
    for rank, (text, log_probability, *links) in enumerate(best, start=1):
        row = [str(number), str(rank), f"{log_probability:.4f}", one_line(text)]
        yield "\t".join([*row, *map(pharaoh, links)])


def as_jsonl(number, best, args):
    """Yields a JSON object for each hypothesis."""
    for rank, (text, log_probability, *columns) in enumerate(best, start=1):
        numbers = {"line": number, "rank": rank, "log_probability": round(log_probability, 4)}
        row = {**numbers, "translation": text}
        if args.alignments:
            row["alignment"] = columns.pop(0)
        if columns:
            row["tokens"] = [*map(of_token, columns[0])]
        yield json.dumps(row, ensure_ascii=False)


def of_token(token_score):
    """Returns what JSON says of a token; see decoding.tokens.token_scores."""
    token, log_probability, alternatives = token_score
    row = {"token": token, "log_probability": round(log_probability, 4)}
    if alternatives:
        row["alternatives"] = {token: round(number, 4) for token, number in alternatives}
    return row


def one_line(text):
    """Returns a text without the tabs and line breaks between its sentences."""
    return re.sub(r"[\t\r\n]+", " ", text)


FORMATS = {"text": as_text, "tsv": as_tsv, "jsonl": as_jsonl}  # of translations


def score(args):
    """Prints the log-probability of each pair of the files, one per line."""
    pairs = files.read_pairs(args.files)
    _, tokenizer, model = load_named(args)
    for total in with_progress(model.translator(tokenizer).score(pairs)):
        print(f"{total:.4f}")


def align(args):
    """Prints the links between the words of each pair of the files, one line per pair."""
    pairs = files.read_pairs(args.files)
    _, tokenizer, model = load_named(args)
    for links in with_progress(model.translator(tokenizer).align(pairs)):
        print(pharaoh(links))


def export(args):
    """Exports the model of a trained run and prints its path."""
    from nmt.decoding import export as exporting

    if args.quantization and args.format != "ctranslate2":
        raise UserError("--quantization goes with --format ctranslate2; add that, or leave it out")
    output.refuse_existing(args.to)
    run, tokenizer, model = load_named(args)
    path = Path(args.to) if args.to else exporting.default_path(run.path / "export", args.format)
    if args.format == "saved_model":
        exporting.saved_model(path, model.transformer, tokenizer)
    elif args.format == "keras":
        if path.suffix != ".keras":  # Keras requires it
            path = path.with_name(f"{path.name}.keras")
        exporting.keras_file(path, model.transformer)
    else:
        exporting.ctranslate2_model(path, model.transformer, tokenizer, args.quantization)
    print(path)


def evaluate(args):
    """Scores a trained run on its test split or on files, alone or against another run."""
    from nmt.results import scores

    if args.files and (args.test or args.train):
        flag = "--test" if args.test else "--train"
        raise UserError(f"{flag} is for the run's own test split; leave it or the files out")
    rows = list(files.read_references(args.files)) if args.files else None
    if rows == []:
        raise files.without_pairs(args.files[0])
    run, tokenizer, model = load_named(args)
    if args.against:
        against, its_tokenizer, other = loading.load(
            args.against, args.checkpoint, **flags.given(args)
        )
    if rows is None:
        moved = {"test": args.test, "train": args.train}
        corpus = loading.load_corpus_of(run, model.options, "test", moved)
        for path in filter(None, (args.against, *args.ensemble)):
            loading.check_test_split(path, corpus, moved)
    sources, *references = zip(*rows, strict=True) if rows else evaluation.texts(corpus.test)
    model.options["tokenize"] = bleu_tokenizer.resolve(
        model.options["tokenize"], references[0], corpora.target_language(model.options["corpus"])
    )
    plain = not (args.files or args.against or model.ensemble or args.checkpoint)
    if plain and checkpoints.paths(run.final):  # scores.json is of the final weights
        test_scores, rows = evaluation.evaluate(model, tokenizer, corpus, args.ter)
        if unprinted := evaluation.report(run, corpus, model, test_scores, rows):
            raise unprinted
        return
    scoring = evaluation.scoring_options(model, references[0]) | {"ter": args.ter}
    scores.warn_of_tokenized_text(references[0], **scoring)
    if len(references) > 1:
        references = scores.without_missing(references)
    translations = evaluation.translate_all(model, tokenizer, sources)
    if args.against:
        other_translations = evaluation.translate_all(other, its_tokenizer, sources)
        named = " ".join(args.files) or f"the test split of {corpus.name}"
        searches = [evaluation.search_name(member.options) for member in (model, other)]
        runs = " and ".join(map(str, (run.path, *args.ensemble)))
        print(
            f"{plural(len(sources), 'line')} of {named}: {runs} ({searches[0]}) against "
            f"{against.path} ({searches[1]})"
        )
        print(scores.comparison(translations, other_translations, *references, **scoring))
    else:
        print(scores.table(scores.score(translations, *references, **scoring)))


MAX_EXPLORED_TOKENS = 200  # of a sentence; weights take space by the square of their number
MAX_EXPLORED_WEIGHTS = 10_000_000  # of a page: about 60 MB, which a browser still opens


def explore(args):
    """Writes an HTML page that shows the attention weights of translated sentences."""
    from nmt.results import explorer

    output.refuse_existing(args.to)
    lines = [line for line in sentences_given.lines(args) if not spelling.is_blank(line)]
    if not lines:
        raise UserError("no sentence to explore; give some as arguments, or as lines of stdin")
    run, tokenizer, model = load_named(args)
    translator = model.text_translator(tokenizer)  # as `translate` does
    sentences = [text for line in lines for text, _ in translator.parts(line) if text]
    for text in sentences:
        if len(tokenizer.encode([text])[0]) > MAX_EXPLORED_TOKENS:
            raise UserError(
                f"{text[:40]!r}...: more than {MAX_EXPLORED_TOKENS} tokens; explore a part of it"
            )
    attentions, weights = [], 0
    for text in sentences:
        attentions.append(translator.attend(text))
        weights += sum(weight.size for weight in attentions[-1].weights.values())
        if weights > MAX_EXPLORED_WEIGHTS:
            raise UserError(
                f"{plural(len(sentences), 'sentence')}: the page would hold more than "
                f"{MAX_EXPLORED_WEIGHTS:,} attention weights from sentence {len(attentions)} on; "
                "explore fewer or shorter ones"
            )
    page = explorer.page(run.path.name, attentions).encode()
    path = Path(args.to) if args.to else run.path / "explorer.html"
    if args.to:
        with output.new(path) as unfinished:
            unfinished.write_bytes(page)
    else:
        run.write(path.name, page)
    print(path)


def first_translated(run):
    """Returns the first test sentence of a run and its translation; "" if there is none yet."""
    try:
        with open(run.path / "translations.txt", encoding="utf-8") as file:
            source, _, translation = file.readline().rstrip("\n").split("\t")
            return source, translation
    except (OSError, ValueError):
        return "", ""


def first_sentence(translator, line):
    """Returns the first sentence of a line, as `translate` splits it; logs that others follow."""
    sentences = [text for text, _ in translator.parts(line) if text]
    if len(sentences) > 1:
        log.warning(
            f"The line holds {len(sentences)} sentences, which are translated one by one: the "
            "first is drawn."
        )
    return sentences[0] if sentences else ""


def choices_of(args):
    """Returns the flags given for the picture, by name; a UserError if one is of other pictures."""
    names = dict.fromkeys(itertools.chain(*command_flags.PICTURES.values()))
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    used = command_flags.PICTURES[args.what]
    if wrong := [name for name in given if name not in used]:
        flag = "average" if wrong[0] == "mean" else wrong[0]
        raise UserError(f"plot {args.what}: takes no --{flag}; leave it out")
    if args.sentence is not None and args.what not in command_flags.OF_A_SENTENCE:
        raise UserError(f"plot {args.what}: takes no sentence; leave it out")
    return given


def plot(args):
    """Draws one picture, of a trained run if it needs one, and prints its path."""
    from nmt.results.pictures import Pictures, RunPictures

    output.refuse_existing(args.to)
    choices = choices_of(args)
    if args.what in command_flags.WITHOUT_RUN and not args.run:
        devices.gpus()  # TensorFlow looks for them here, quietly
        pictures = Pictures(Path("plots"), params.values())
        print(pictures.draw(args.what, args.to, **choices))
        return
    if args.what in command_flags.WITHOUT_WEIGHTS and not (args.sentence or args.checkpoint):
        run, tokenizer, model = loading.prepare(args.run, weights=False)
    else:
        run, tokenizer, model = load_named(args)
    line, translation = first_translated(run)
    if args.sentence is not None:
        (line,) = files.decode_lines([os.fsencode(args.sentence) + b"\n"], "argument")
        translation = None  # not known yet
        line = first_sentence(model.text_translator(tokenizer), line)
    if args.what in command_flags.OF_A_SENTENCE and spelling.is_blank(line):
        raise UserError(f"plot {args.what}: no sentence to draw; give one")
    if args.what == "curves":
        choices["beside"] = [Run(folder) for folder in args.beside or ()]
        for other in choices["beside"]:
            other.options()  # raises an error if it is not a trained run

    def make_batches():
        moved = {"train": args.train}
        corpus = loading.load_corpus_of(run, model.options, "train", moved)
        return training_batches(model.options, corpus, tokenizer)

    pictures = RunPictures(run, model, tokenizer, line, make_batches, translation)
    print(pictures.draw(args.what, args.to, **choices))
