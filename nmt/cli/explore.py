"""The command `explore`."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import UserError, output
from nmt.cli import flags, sentences_given, trained_runs
from nmt.messages import plural
from nmt.text import spelling

HELP = "write a page that shows attention weights"
MAX_TOKENS = 200  # of a sentence; weights take space by the square of their number
MAX_WEIGHTS = 10_000_000  # of a page: about 60 MB, which a browser still opens


def add_flags(parser: ArgumentParser) -> None:
    flags.add_run(parser)
    flags.add_sentences(parser)
    flags.add_to(parser, "FILE", "the page (default explorer.html of the run)")


def run(args: Namespace) -> None:
    """Writes an HTML page that shows the attention weights of translated sentences."""
    output.refuse_existing(args.to)
    runs = trained_runs.find_runs(args)
    lines = [line for line in sentences_given.lines(args) if not spelling.is_blank(line)]
    if not lines:
        raise UserError("no sentence to explore; give some as arguments, or as lines of stdin")
    run, tokenizer, model = trained_runs.load_runs(args, runs)
    from nmt.results import explorer

    translator = model.text_translator(tokenizer)  # as `translate` does
    sentences = [text for line in lines for text, _ in translator.parts(line) if text]
    for text in sentences:
        if len(tokenizer.encode([text])[0]) > MAX_TOKENS:
            raise UserError(
                f"{text[:40]!r}...: more than {MAX_TOKENS} tokens; explore a part of it"
            )
    attentions, weights = [], 0
    for text in sentences:
        attentions.append(translator.attend(text))
        weights += sum(weight.size for weight in attentions[-1].weights.values())
        if weights > MAX_WEIGHTS:
            raise UserError(
                f"{plural(len(sentences), 'sentence')}: the page would hold more than "
                f"{MAX_WEIGHTS:,} attention weights from sentence {len(attentions)} on; "
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
