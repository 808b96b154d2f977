"""The commands of a trained run: translate, score, evaluate, export, explore, plot.

Libraries that only one command needs, such as matplotlib, are imported in that command.
"""

import os
import shlex
import sys
from pathlib import Path

from tqdm import tqdm

from nmt import UserError
from nmt.decoding.export import whole_or_nothing
from nmt.decoding.translator import CHUNK_LINES
from nmt.messages import log
from nmt.program import command_line, flags, loading, run_folder
from nmt.results import evaluation
from nmt.text import corpora
from nmt.text.batches import training_batches


def given_lines(args):
    """Returns the sentences in the arguments, or else the lines of stdin."""
    for text in args.text:
        if corpora.is_file(text):
            raise UserError(
                f"{text}: is a file, not a sentence; to take its lines: {args.command} < "
                f"{shlex.quote(text)}"
            )
    if args.text:  # as bytes, to be checked like the lines of stdin
        lines = (os.fsencode(text) + b"\n" for text in args.text)
        return corpora.decode_lines(lines, "argument")
    if sys.stdin is None:
        raise UserError("stdin is closed; give sentences as arguments, or a file: < FILE")
    return corpora.decode_lines(sys.stdin.buffer, "stdin")


def typed_lines():
    """Yields the lines that are typed at a prompt, as bytes, until Ctrl-D."""
    log.info("Type a sentence and Enter; Ctrl-D ends.")
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            print(file=sys.stderr)
            return
        yield line


def with_progress(results):
    """Yields `results` and shows their number and rate, if stderr is a terminal."""
    return tqdm(results, unit="line", file=sys.stderr, disable=None, leave=False)


def translate(args):
    """Prints the translation, or the `n_best`, of each argument or line of stdin."""
    lines, at_a_time = given_lines(args), CHUNK_LINES
    _, tokenizer, model = loading.load_named(args)
    search = evaluation.search_options(model)
    if args.n_best > search["beam"] and not model.options["non_autoregressive"]:
        raise UserError(
            f"--n-best {args.n_best} needs a --beam of as many, and it is {search['beam']}; add "
            f"--beam {args.n_best}"
        )
    typed = not args.text and sys.stdin.isatty()
    if typed:  # translate each line as soon as it is entered
        lines, at_a_time = corpora.decode_lines(typed_lines(), "stdin"), 1
    translator = evaluation.translator(model, tokenizer, **search, n_best=args.n_best)
    found = translator.hypotheses(lines, at_a_time)
    for best in found if typed else with_progress(found):
        for text, log_probability in best:
            print(f"{log_probability:.4f}\t{text}" if args.score else text, flush=typed)


def score(args):
    """Prints the log-probability of each pair of the files, one per line."""
    pairs = corpora.read_pairs(args.files)
    _, tokenizer, model = loading.load_named(args)
    for total in with_progress(evaluation.translator(model, tokenizer).score(pairs)):
        print(f"{total:.4f}")


def refuse_existing(path):
    """Raises a UserError if the `path` of --to exists: nothing is overwritten."""
    if path and os.path.lexists(path):
        raise UserError(f"--to {path}: exists already; remove it, or name another path")


def export(args):
    """Exports the model of a trained run and prints its path."""
    from nmt.decoding import export as exporting

    if args.quantization and args.format != "ctranslate2":
        raise UserError("--quantization goes with --format ctranslate2; add that, or leave it out")
    refuse_existing(args.to)
    run, tokenizer, model = loading.load_named(args)
    path = Path(args.to) if args.to else exporting.default_path(run.path / "export", args.format)
    if args.format == "saved_model":
        exporting.saved_model(path, model.transformer, tokenizer)
    elif args.format == "keras":
        if path.suffix != ".keras":  # Keras requires it
            path = path.with_name(f"{path.name}.keras")
        exporting.keras(path, model.transformer)
    else:
        exporting.ctranslate2(path, model.transformer, tokenizer, args.quantization)
    print(path)


def evaluate(args):
    """Scores a trained run on its test split or on files, alone or against another run."""
    from nmt.results import scores

    pairs = list(corpora.read_pairs(args.files)) if args.files else None
    if pairs == []:
        raise UserError(f"{args.files[0]}: holds no pair; name a file with one sentence per line")
    run, tokenizer, model = loading.load_named(args)
    if args.against:
        against, its_tokenizer, other = loading.load(
            args.against, args.checkpoint, **flags.given(args)
        )
    if pairs is None:
        corpus = loading.load_corpus_of(run, model.options, "test")
        if args.against:
            its_corpus = loading.load_corpus_of(against, other.options, "test")
            if corpora.fingerprint(its_corpus.test) != corpora.fingerprint(corpus.test):
                raise UserError(
                    f"--against {against.path}: has another test split, so may have been trained "
                    "on this one; name files to compare them on: evaluate FILE FILE"
                )
        else:
            found = evaluation.evaluate(model, tokenizer, corpus)
            evaluation.report(run, corpus, model, *found)
            return
    sources, references = zip(*pairs, strict=True) if pairs else evaluation.texts(corpus.test)
    scoring = evaluation.scoring_options(model)
    found = evaluation.translate_all(model, tokenizer, sources)
    if args.against:
        others = evaluation.translate_all(other, its_tokenizer, sources)
        named = " ".join(args.files) or f"the test split of {corpus.name}"
        searches = [evaluation.search_name(each.options) for each in (model, other)]
        print(
            f"{len(sources)} lines of {named}: {run.path} ({searches[0]}) against {against.path} "
            f"({searches[1]})"
        )
        print(scores.comparison(found, others, references, **scoring))
    else:
        print(scores.table(scores.score(found, references, **scoring)))


MAX_EXPLORED_TOKENS = 200  # of a sentence; weights take space by the square of their number


def explore(args):
    """Writes an HTML page that shows the attention weights of translated sentences."""
    from nmt.results import explorer

    refuse_existing(args.to)
    lines = [line for line in given_lines(args) if line.strip()]
    if not lines:
        raise UserError("no sentence to explore; give some as arguments, or as lines of stdin")
    run, tokenizer, model = loading.load_named(args)
    for line in lines:
        if len(tokenizer.encode([line])[0]) > MAX_EXPLORED_TOKENS:
            raise UserError(
                f"{line[:40]!r}...: more than {MAX_EXPLORED_TOKENS} tokens; explore a part of it"
            )
    attend = evaluation.translator(model, tokenizer).attend
    sentences = {line: attend(line) for line in lines}
    page = explorer.page(sentences).encode()
    path = Path(args.to) if args.to else run.path / "explorer.html"
    if args.to:
        with whole_or_nothing(path) as unfinished:
            unfinished.write_bytes(page)
    else:
        run.write(path.name, page)
    print(path)


def first_source(run):
    """Returns the first test sentence that a run has translated; "" if there is none yet."""
    try:
        with open(run.path / "translations.txt", encoding="utf-8") as file:
            return file.readline().partition("\t")[0]
    except (OSError, ValueError):
        return ""


def plot(args):
    """Draws one picture of a trained run and prints its path."""
    from nmt.results.pictures import Pictures

    run, tokenizer, model = loading.load_named(args)
    line = first_source(run)
    if args.sentence is not None:
        (line,) = corpora.decode_lines([os.fsencode(args.sentence) + b"\n"], "argument")
    if args.what in ("attention", "masks") and not line.strip():
        raise UserError(f"plot {args.what}: no sentence to draw; give one")
    choices = {name: getattr(args, name) for name in command_line.PICTURES[args.what]}
    if args.what == "curves":
        choices["beside"] = [run_folder.Run(folder) for folder in args.beside]
        for other in choices["beside"]:
            other.options()  # raises an error if it is not a trained run

    def make_batches():
        corpus = loading.load_corpus_of(run, model.options, "train")
        return training_batches(model.options, corpus, tokenizer)

    pictures = Pictures(run, model, tokenizer, line, make_batches)
    print(pictures.draw(args.what, **choices))
