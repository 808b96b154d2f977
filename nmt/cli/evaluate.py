"""The command `evaluate`."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError
from nmt.cli import evaluate_confidence, flags, startup, trained_runs
from nmt.corpus import bleu_tokenizer, files, noise
from nmt.decoding.engines.choice import AUTO
from nmt.messages import log, plural
from nmt.neighbors import params
from nmt.options import Options
from nmt.results.error_report import ErrorReport, Part, count_table, find_errors
from nmt.results.run_report import TranslatedLine, check_reportable
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.runs.weights import Weights, choose_weights
from nmt.text import encoding
from nmt.text.glossary import Glossary, read_glossary
from nmt.text.languages import target_language

if TYPE_CHECKING:  # what imports TensorFlow
    from nmt.corpus.corpora import Corpus
    from nmt.runs.loading import TrainedRun

HELP = "score runs, or translations in files; compare them"
VARYING_SHAPES = True


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser, several=True)
    flags.add_engine(parser)
    flags.add_pairs(
        parser, "*",
        "files of pairs, or source and references (several files of references may follow), to "
        "score instead of the test split; only prints",
    )  # fmt: skip
    flags.add_switch(parser, "--ter", "translation edit rate, too (lower is better)")
    parser.add_argument(
        "--against", type=flags.filled, metavar="DIR", action="append", default=[],
        help="another run (repeatable): test the significance of the differences",
    )  # fmt: skip
    flags.add_value(
        parser, "--hypotheses", "FILE", "score the translations in this file, one per line, "
        "instead of a run's; with further files or --against: test the significance of the "
        "differences", nargs="+",
    )  # fmt: skip
    evaluate_confidence.add_confidence_flags(parser)
    flags.add_switch(
        parser, "--errors", "a report of errors by kind, with examples: numbers, placeholders, "
        "copies, lengths, repeats; by file, if several are named",
    )  # fmt: skip
    flags.add_switch(
        parser, "--robust", "score the text as people type it, too, by kind: in capitals, small "
        "letters or titles, without accents or stops, with typing errors or emoji",
    )  # fmt: skip
    flags.add_switch(parser, "--json", "the scores, p-values and errors as JSON")
    flags.add_value(
        parser, "--glossary", "FILE", "with --errors: terms that translations must hold, lines of "
        "source TAB target; they are made without it",
    )  # fmt: skip
    where = "where the run's {} files are now, if they have moved"
    flags.add_data(parser, test=where.format("test"), train=where.format("training"))
    flags.add_parameters(parser, params.names(params.SEARCH, params.SCORING), flags.THE_RUNS)


def run(args: Namespace) -> None:
    """Scores a trained run on its test split or on files, alone or against other runs."""
    if args.files and (args.test or args.train):
        flag = "--test" if args.test else "--train"
        raise UserError(f"{flag} is for the run's own test split; leave it or the files out")
    file_flags = {"columns": args.columns, "sheet": args.sheet, "no-header": args.no_header}
    given = [f"--{name}" for name, value in file_flags.items() if value]
    if given and not args.files:
        raise UserError(f"{given[0]} is for files; name them, or leave it out")
    if args.glossary and not args.errors:
        raise UserError("--glossary is for --errors, which counts the terms that are missing")
    if args.confidence or args.calibrate:
        score_confidence(args)
    elif args.hypotheses:
        score_hypotheses(args)
    else:
        score_runs(args)


class TestText(NamedTuple):
    """What translations are scored against."""

    name: str
    sources: Sequence[str]
    references: list[Sequence[str]]  # as many sets as files of references
    scoring: dict[str, Any]  # the parameters of the scores, by name
    parts: list[Part]  # the files of pairs, or the text as one
    glossary: Glossary | None = None  # for the report of errors


class System(NamedTuple):
    """A run or a file, as its scores name it, and its translations of the TestText."""

    name: str
    translations: list[str]


def score_runs(args: Namespace) -> None:
    """Scores the run or the ensemble of --run; writes the report of a run's own test split."""
    runs = trained_runs.find_runs(args)
    against = [listing.find(path) for path in args.against]
    columns, parts = read_references(args) if args.files else ([], [])
    glossary = glossary_of(args, args.languages or runs[0].parameters.corpus.languages)
    weights = choose_weights(runs[0], args.checkpoint)
    if args.quantization and not against:  # says what it costs
        against = [runs[0]]
    is_report = not (args.files or against or args.ensemble or args.checkpoint or args.robust)
    if is_report:
        check_reportable(runs[0])
    with trained_runs.unchanged(runs):
        trained = trained_runs.load_runs(args, runs)
    from nmt.results import evaluation, scores

    name = " ".join(args.files)
    if not columns:
        corpus = load_test_split(args, [*runs, *against])
        name = f"the test split of {corpus.name}"
        columns = [*evaluation.texts(corpus.test)]
        parts = [Part(name, len(columns[0]))]
    if args.robust:
        columns = noise.typed(columns, trained.model.languages)
        parts = [Part(kind, len(columns[0]) // len(noise.KINDS)) for kind in noise.KINDS]
    sources, *references = columns
    language = target_language(trained.model.languages)
    scoring = scoring_of(trained.model.options, references[0], language)
    options = dataclasses.replace(trained.model.options, tokenize=scoring["tokenize"])
    trained = trained._replace(model=dataclasses.replace(trained.model, options=options))
    if is_report and weights.kind == "final":  # scores.json is of the final weights
        report_run(args, trained, corpus, weights, glossary)
        return
    if is_report:
        log.info("scores.json stays as it is: it is for the final weights, at the end of training.")
    text = TestText(name, sources, references, scoring, parts, glossary)
    scores.warn_of_tokenized_text(references[0], **text.scoring)
    print_scores(args, text, systems_of(args, trained, against, sources))


def systems_of(
    args: Namespace, trained: TrainedRun, against: Sequence[Run], sources: Sequence[str]
) -> list[System]:
    """Returns the Systems of what is loaded, a run or an ensemble, and of runs to compare with."""
    from nmt.runs import loading

    paths = " and ".join(map(str, (trained.run.path, *args.ensemble)))
    quantized = f" with weights in {args.quantization}" if args.quantization else ""
    systems = [system_of(trained, paths + quantized, sources)]
    for run in against:  # one in memory at a time
        rival = loading.load(run, args.checkpoint, **flags.given_parameters(args))
        systems.append(system_of(rival, str(run.path), sources))
    return systems


def report_run(
    args: Namespace,
    trained: TrainedRun,
    corpus: Corpus,
    weights: Weights,
    glossary: Glossary | None,
) -> None:
    """Prints the scores of the final weights on the test split; writes them into the run folder."""
    from nmt.results import evaluation, run_report, scores

    model = trained.model
    test_scores, lines = evaluation.evaluate(model, trained.tokenizer, corpus, args.ter)
    parts = [Part(corpus.name, len(lines))]
    errors = None
    if args.errors:
        errors = find_errors(lines, parts, glossary)
        test_scores["errors"] = errors.to_json()
    if args.json:
        system = {"name": str(trained.run.path)} | test_scores
        print(scores.as_json(f"the test split of {corpus.name}", len(lines), [system]))
        run_report.write_report(trained.run, corpus, model, weights.record, test_scores, lines)
        return
    run_report.report(trained.run, corpus, model, weights.record, test_scores, lines)
    if errors:
        print(f"\n{errors.text()}")


def score_confidence(args: Namespace) -> None:
    """Says how sure a run is of the text of files, or of its own, and whether it is right."""
    evaluate_confidence.check_flags(args)
    (run,) = trained_runs.find_runs(args)
    columns = read_references(args)[0] if args.files else []
    with trained_runs.unchanged([run]):
        trained = trained_runs.load_runs(args, [run])
    from nmt.results import evaluation
    from nmt.runs.run_corpus import load_corpus_of

    if not columns and args.calibrate:
        corpus = load_corpus_of(run, "validation", {"train": args.train})
        columns = [*evaluation.texts(corpus.validation)]
    elif not columns:
        columns = [*evaluation.texts(load_test_split(args, [run]).test)]
    evaluate_confidence.report(args, trained, columns)


def load_test_split(args: Namespace, runs: list[Run]) -> Corpus:
    """Returns the corpus of the first run, whose test split must be that of all runs."""
    from nmt.runs.run_corpus import check_test_split, load_corpus_of

    moved = {"test": args.test, "train": args.train}
    corpus = load_corpus_of(runs[0], "test", moved)
    for other_run in runs[1:]:
        check_test_split(other_run, corpus, moved)
    return corpus


def system_of(trained: TrainedRun, paths: str, sources: Sequence[str]) -> System:
    """Returns the System of a loaded run, or of an ensemble, whose paths name it."""
    from nmt.results import evaluation
    from nmt.results.run_report import search_name

    name = f"{paths} ({search_name(trained.model.options)})"
    return System(name, evaluation.translate_all(trained.model, trained.tokenizer, sources))


def glossary_of(args: Namespace, languages: Sequence[str]) -> Glossary | None:
    """Returns the Glossary of --glossary, if it is given, with the case of letters of languages."""
    return read_glossary(args.glossary).in_languages(languages) if args.glossary else None


def print_scores(args: Namespace, text: TestText, systems: list[System]) -> None:
    """Prints the scores of one System, or the comparison of several, as text or JSON."""
    from nmt.results import scores

    references: Sequence[Sequence[str | None]] = text.references
    if len(references) > 1:
        references = scores.without_missing(text.references)
    scoring = text.scoring | {"ter": args.ter}
    reports = error_reports(text, systems) if args.errors else []
    if args.json:
        print(json_of(text, systems, references, scoring, reports))
        return
    if len(systems) == 1:
        *by_file, (_, whole) = scores_by_file(text.parts, systems[0], references, scoring)
        for part, part_scores in by_file:
            print(f"{part.name}, {plural(part.lines, 'line')}:")
            print(scores.table(part_scores), end="\n\n")
        if by_file:
            print("all:")
        print(scores.table(whole))
    else:
        comparisons = scores.compare([s.translations for s in systems], *references, **scoring)
        size = plural(len(text.sources), "line")
        if len(systems) == 2:
            names = " against ".join(system.name for system in systems)
            print(f"{size} of {text.name}: {names}")
        else:
            print(f"{size} of {text.name}:")
            for number, system in enumerate(systems, start=1):
                print(f"{number:>3}  {system.name}")
            print()
        print(scores.comparison_table(comparisons))
    if reports:
        print_errors(systems, reports)


def scores_by_file(
    parts: list[Part],
    system: System,
    references: Sequence[Sequence[str | None]],
    scoring: dict[str, Any],
) -> Iterator[tuple[Part, dict[str, dict[str, Any]]]]:
    """Yields the scores of a System: of each file, if there are several, then of all lines."""
    from nmt.results import scores

    start = 0
    for part in parts if len(parts) > 1 else ():
        end = start + part.lines
        part_references = [lines[start:end] for lines in references]
        yield part, scores.score(system.translations[start:end], *part_references, **scoring)
        start = end
    whole = Part("all", len(system.translations))
    yield whole, scores.score(system.translations, *references, **scoring)


def json_of(
    text: TestText,
    systems: list[System],
    references: Sequence[Sequence[str | None]],
    scoring: dict[str, Any],
    reports: list[ErrorReport],
) -> str:
    """Returns as JSON what `print_scores` prints."""
    from nmt.results import scores

    objects: list[dict[str, Any]] = [{"name": system.name} for system in systems]
    comparisons: list[scores.Comparison] = []
    if len(systems) == 1:
        *by_file, (_, whole) = scores_by_file(text.parts, systems[0], references, scoring)
        objects[0] |= whole
        if by_file:
            objects[0]["files"] = [part._asdict() | rows for part, rows in by_file]
    else:
        comparisons = scores.compare([s.translations for s in systems], *references, **scoring)
    for system, report in zip(objects, reports, strict=False):
        system["errors"] = report.to_json()
    return scores.as_json(text.name, len(text.sources), objects, comparisons)


def error_reports(text: TestText, systems: list[System]) -> list[ErrorReport]:
    """Returns the report of errors of each System."""
    reports = []
    for system in systems:
        columns = zip(text.sources, text.references[0], system.translations, strict=True)
        lines = [TranslatedLine(*line) for line in columns]
        reports.append(find_errors(lines, text.parts, text.glossary))
    return reports


def print_errors(systems: list[System], reports: list[ErrorReport]) -> None:
    """Prints the report of errors of each System, after a table of several."""
    if len(systems) > 1:
        totals = {str(number): report.totals() for number, report in enumerate(reports, start=1)}
        print(f"\n{count_table(totals)}")
    for number, (system, report) in enumerate(zip(systems, reports, strict=True), start=1):
        title = f"{number}  {system.name}: " if len(systems) > 1 else ""
        print(f"\n{title}{report.text()}")


def read_references(args: Namespace) -> tuple[list[Sequence[str]], list[Part]]:
    """Returns the sources of the named files and sets of references, and the files as Parts.

    Several files of pairs are scored together, one after the other.

    Raises a UserError if a file cannot be read, or has no pairs.
    """
    several = len(args.files) > 1 and all(map(files.is_table, args.files))
    lines: list[tuple[str, ...]] = []
    parts = []
    for paths in [[path] for path in args.files] if several else [args.files]:
        file_lines = list(files.read_references(paths, flags.selection(args)))
        if not file_lines:
            raise files.without_pairs(paths[0])
        lines += file_lines
        parts.append(Part(" ".join(paths), len(file_lines)))
    return list(zip(*lines, strict=True)), parts


def score_hypotheses(args: Namespace) -> None:
    """Scores the files of --hypotheses, without a run unless a flag names one."""
    check_hypotheses(args)
    systems = [System(path, list(encoding.read_lines(path))) for path in args.hypotheses]
    text = text_of_files(args) if args.files else text_of_run(args)
    for path, lines in systems:
        if len(lines) != len(text.sources):
            raise UserError(
                f"{path}: has {plural(len(lines), 'line')}, but {text.name} has "
                f"{plural(len(text.sources), 'line')}; give one translation for each"
            )
    for path in args.against:
        systems.append(System(path, translate_with(path, args, text.sources)))
    from nmt.results import scores

    scores.warn_of_tokenized_text(text.references[0], **text.scoring)
    print_scores(args, text, systems)


def check_hypotheses(args: Namespace) -> None:
    """Raises a UserError if other flags contradict --hypotheses, or a system is named twice."""
    if len({*args.hypotheses, *args.against}) != len(args.hypotheses) + len(args.against):
        raise UserError("--hypotheses: a system is named twice; name each once")
    search_flags = flags.given_parameters(args).keys() & {*params.names(params.SEARCH)}
    if not args.against and (search_flags or args.checkpoint):
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(search_flags))
        raise UserError(
            f"--hypotheses are translations already: leave out {names or '--checkpoint'}, or name "
            "a run to compare with by --against"
        )
    if args.quantization or args.engine != AUTO or args.robust:
        raise UserError("--engine, --quantization and --robust are for translating; leave them out")
    if args.ensemble or (args.run and args.files):
        raise UserError(
            "--hypotheses goes without --run, which is only for its test split; name a run to "
            "compare with by --against"
        )


def text_of_files(args: Namespace) -> TestText:
    """Returns the TestText of the named files."""
    (sources, *references), parts = read_references(args)
    pair = flags.selection(args).languages
    named = files.kind(args.files[1]) if len(args.files) > 1 else None
    language = pair[1] if pair else named
    scoring = scoring_of(flags.chosen(args), references[0], language)
    glossary = glossary_of(args, pair or ())
    return TestText(" ".join(args.files), sources, references, scoring, parts, glossary)


def text_of_run(args: Namespace) -> TestText:
    """Returns the TestText of the test split of a run."""
    run = listing.find(args.run)
    startup.import_tensorflow()
    from nmt.results import evaluation
    from nmt.training import devices

    devices.configure(mirrored=False)
    corpus = load_test_split(args, [run, *map(listing.find, args.against)])
    sources, references = evaluation.texts(corpus.test)
    language = run.parameters.corpus.target_language
    options = dataclasses.replace(run.parameters.options, **flags.given_parameters(args))
    scoring = scoring_of(options, references, language)
    name = f"the test split of {corpus.name}"
    glossary = glossary_of(args, run.parameters.corpus.languages)
    parts = [Part(name, len(sources))]
    return TestText(name, sources, [references], scoring, parts, glossary)


def scoring_of(options: Options, references: Sequence[str], language: str | None) -> dict[str, Any]:
    """Returns the parameters of scores among `options`; "auto" is decided."""
    scoring = options.by_name(params.SCORING)
    tokenize = bleu_tokenizer.resolve(scoring["tokenize"], references, language)
    return scoring | {"tokenize": tokenize}


def translate_with(path: str, args: Namespace, sources: Sequence[str]) -> list[str]:
    """Returns the translations of `sources` by a run."""
    run = listing.find(path)
    startup.import_tensorflow()  # which the module of the scores imports
    from nmt.results import evaluation
    from nmt.runs import loading

    _, tokenizer, model = loading.load(run, args.checkpoint, **flags.given_parameters(args))
    return evaluation.translate_all(model, tokenizer, sources)
