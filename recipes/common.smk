"""What the recipes share: the program, and checks of what a user has written.

Steps are commands of run_demo.py. A step that trains has a file in done/ as its output, which appears
when the run is complete: the run folder is no output, so that Snakemake does not delete it, and an
interrupted training run resumes.
"""

import os
import shlex
import sys
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(workflow.basedir).resolve().parent
sys.path.insert(0, str(ROOT))
from nmt import UserError
from nmt.cli import configuration
from nmt.cli import main as program
from nmt.runs import listing

PROGRAM = shlex.join([sys.executable, str(ROOT / "run_demo.py")])
WHOLE_MACHINE = workflow.cores or 1  # threads of a step that uses all cores by itself


def stop(problem):
    """Ends Snakemake with one line on what is wrong, and exit code 2."""
    print(f"{Path(workflow.main_snakefile).name}: {problem}", file=sys.stderr)
    sys.exit(2)


def check_config(schema):
    """Ends Snakemake if its configuration is not as the schema, a name in schemas/, says."""
    if not config:
        stop("no configuration; name one: --configfile FILE")
    try:
        for path in workflow.configfiles:
            configuration.read_entries(str(path))
    except UserError as error:
        stop(error)
    schemas = Path(workflow.basedir) / "schemas"
    content = yaml.safe_load((schemas / schema).read_text())
    definitions = yaml.safe_load((schemas / "definitions.yaml").read_text())
    content["$defs"] = definitions | content.get("$defs", {})
    validator = jsonschema.Draft202012Validator(content)
    if error := jsonschema.exceptions.best_match(validator.iter_errors(config)):
        where = ".".join(map(str, error.absolute_path))
        stop(f"{f'{where}: ' if where else ''}{error.message}")


def flags_of(key, text, given=()):
    """Returns flags of training as words; ends Snakemake if they are wrong or the recipe gives them.

    Args:
      key: of the configuration, for the message.
      text: the flags in one line.
      given: flags that the recipe gives itself.
    """
    try:
        words = shlex.split(text)
        for word in words:
            if word.partition("=")[0] in given:
                raise UserError(f"{word}: the recipe gives this flag itself; leave it out")
        program.parse_command_line(["train", *words])
    except (UserError, ValueError) as error:
        stop(f"{key}: {error}")
    return words


def checked(key, function, *arguments):
    """Returns what a function of the program returns; ends Snakemake if it finds a mistake.

    What only a late step needs is checked before the first one by this: hours later is too late.
    """
    try:
        return function(*arguments)
    except UserError as error:
        stop(f"{key}: {error}")


def selection(text):
    """Returns the flags that say which two sides of a file are meant, of a mapping that has them."""
    keys = [key for key in ("languages", "columns", "sheet", "encoding") if key in text]
    words = [f"--{key}={text[key]}" for key in keys]
    switches = [key for key in ("no_header", "unescape") if text.get(key)]
    return [*words, *(f"--{key.replace('_', '-')}" for key in switches)]


def check_files(key, paths):
    """Ends Snakemake if one of the files does not exist."""
    for path in paths:
        if not Path(path).is_file():
            stop(f"{key}: {path} does not exist; name a file")
