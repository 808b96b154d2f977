"""The command `evaluate`."""

from argparse import ArgumentParser, Namespace

import params
from nmt import UserError
from nmt.cli import flags, trained_runs
from nmt.messages import plural
from nmt.runs import listing
from nmt.text import bleu_tokenizer, files

HELP = "score a run on its test split, on files, or against another run"
VARYING_SHAPES = True


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser, several=True)
    flags.add_pairs(
        parser, "*",
        "a file of pairs, or source and references (several files of references may follow), to "
        "score instead of the test split; only prints",
    )  # fmt: skip
    parser.add_argument(
        "--ter", action="store_true", help="translation edit rate, too (lower is better)"
    )
    parser.add_argument(
        "--against", type=flags.filled, metavar="DIR", action=flags.Once,
        help="another run: test the significance of the difference",
    )  # fmt: skip
    where = "where the run's {} files are now, if they have moved"
    flags.add_data(parser, test=where.format("test"), train=where.format("training"))
    flags.add_parameters(parser, params.names(params.SEARCH, params.SCORING), flags.THE_RUNS)


def run(args: Namespace) -> None:
    """Scores a trained run on its test split or on files, alone or against another run."""
    if args.files and (args.test or args.train):
        flag = "--test" if args.test else "--train"
        raise UserError(f"{flag} is for the run's own test split; leave it or the files out")
    runs = trained_runs.find_runs(args)
    against = listing.find(args.against) if args.against else None
    selection = flags.selection(args)
    rows = list(files.read_references(args.files, selection)) if args.files else None
    if rows == []:
        raise files.without_pairs(args.files[0])
    run, tokenizer, model = trained_runs.load_runs(args, runs)
    from nmt.results import evaluation, scores
    from nmt.runs import loading
    from nmt.text import corpora
    from nmt.training import checkpoints

    if against:
        _, other_tokenizer, other_model = loading.load(
            against, args.checkpoint, **flags.given(args)
        )
    if rows is None:
        moved = {"test": args.test, "train": args.train}
        corpus = loading.load_corpus_of(run, "test", moved)
        for other_run in [against, *runs[1:]] if against else runs[1:]:
            loading.check_test_split(other_run, corpus, moved)
    sources, *references = zip(*rows, strict=True) if rows else evaluation.texts(corpus.test)
    model.options["tokenize"] = bleu_tokenizer.resolve(
        model.options["tokenize"], references[0], corpora.target_language(model.corpus)
    )
    is_report = not (args.files or against or model.ensemble or args.checkpoint)
    if is_report and checkpoints.paths(run.final):  # scores.json is of the final weights
        test_scores, rows = evaluation.evaluate(model, tokenizer, corpus, args.ter)
        evaluation.report(run, corpus, model, test_scores, rows)
        return
    scoring = evaluation.scoring_options(model, references[0]) | {"ter": args.ter}
    scores.warn_of_tokenized_text(references[0], **scoring)
    if len(references) > 1:
        references = scores.without_missing(references)
    translations = evaluation.translate_all(model, tokenizer, sources)
    if not against:
        print(scores.table(scores.score(translations, *references, **scoring)))
        return
    other_translations = evaluation.translate_all(other_model, other_tokenizer, sources)
    text = " ".join(args.files) or f"the test split of {corpus.name}"
    paths = " and ".join(str(path) for path in (run.path, *args.ensemble))
    print(
        f"{plural(len(sources), 'line')} of {text}: {paths} "
        f"({evaluation.search_name(model.options)}) against {against.path} "
        f"({evaluation.search_name(other_model.options)})"
    )
    print(scores.comparison(translations, other_translations, *references, **scoring))
