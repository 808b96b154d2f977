"""The command `import`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from nmt import output
from nmt.cli import flags, startup
from nmt.messages import log
from nmt.program import COMMAND
from nmt.runs import listing
from nmt.text.languages import as_pair

HELP = "make a run of a model of others: OPUS-MT, Marian"


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER",
        help="of a MarianMTModel: config.json, model.safetensors, source.spm, vocab.json, ...",
    )  # fmt: skip
    text = "a new run folder (default runs/<name of FOLDER>)"
    flags.add_value(parser, "--run", "DIR", text, str)
    flags.add_languages(parser, "of source and target (default: those that its files name)")
    text = "of a model for several languages: the one to translate into, such as por"
    flags.add_value(parser, "--tag", "NAME", text, str)


def run(args: Namespace) -> None:
    """Makes a run of a model, and prints its folder."""
    path = Path(args.run) if args.run else listing.default(args.folder.resolve().name)
    output.refuse_existing(path, "another folder with --run")
    languages = as_pair(args.languages) if args.languages else None
    startup.import_tensorflow()
    from nmt.imports.imported_model import read_model
    from nmt.imports.imported_run import write_run
    from nmt.runs.train_corpus import check_encoding

    for name in (args.folder, path):
        check_encoding(name)
    model = read_model(args.folder, languages, args.tag)
    transformer = write_run(path, model)
    options, codes = model.options, "-".join(model.languages) or "languages unknown"
    log.info(
        f"Imported {model.name}: {codes}, {options.num_layers}+{options.layers_of_decoder} "
        f"layers, width {options.d_model}, {transformer.count_params():,} parameters, "
        f"{len(model.vocabulary.target.rows):,} entries; license {model.license or 'not named'}."
    )
    log.info(f"Translate with it: {' '.join(COMMAND)} translate --run {path}")
    print(path)
