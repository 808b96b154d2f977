"""The command `explore`."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import UserError, output
from nmt.cli import flags, line_io, startup, trained_runs
from nmt.messages import log, plural
from nmt.results.run_report import read_translations
from nmt.text import spelling

HELP = "write a page that translates in a browser and shows all numbers"
SAMPLES = 5  # test sentences of the run that the page offers if none are given


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    flags.add_sentences(parser)
    flags.add_value(parser, "--to", "FILE", "the page (default explorer.html of the run)")


def read_lines(args: Namespace) -> list[str]:
    """Returns the lines that are given and not blank; none if the run's own are to be taken."""
    asked = bool(args.text) or not (sys.stdin is None or sys.stdin.isatty())
    given_lines = list(line_io.given_lines(args)) if asked else []
    lines = [line for line in given_lines if not spelling.is_blank(line)]
    if blank := len(given_lines) - len(lines) if lines else 0:
        log.info(f"The page leaves out {plural(blank, 'blank line')}.")
    if args.text and not lines:
        raise UserError("no sentence to explore; give some as arguments, or as lines of stdin")
    return lines


def run(args: Namespace) -> None:
    """Writes an HTML page that holds a run, translates in the browser and shows every number."""
    output.refuse_existing(args.to)
    runs = trained_runs.find_runs(args)
    output.check_writable(args.to or runs[0].path / "explorer.html")
    lines = read_lines(args)
    run, tokenizer, model = trained_runs.load_runs(args, runs)
    startup.import_tensorflow()  # quietly: the modules below import it
    from nmt.exports.browser import browser_model
    from nmt.results.explorer import page

    translator = model.text_translator(tokenizer)  # as `translate` does
    browser_model.check_page(run.path.name, model.transformer, tokenizer, "explore")
    are_chosen = bool(lines)
    lines = lines or [source for source, *_ in read_translations(run, SAMPLES)]
    examples = page.examples(translator, lines, are_chosen)
    languages = model.languages or ("en",)
    html = page.assemble(
        run.path.name, model.transformer, tokenizer, examples, languages, model.estimator
    ).encode()
    path = Path(args.to) if args.to else run.path / "explorer.html"
    if args.to:
        with output.new(path) as unfinished:
            unfinished.write_bytes(html)
    else:
        run.write(path.name, html)
    print(path)
