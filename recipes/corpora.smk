"""Text of the recipes that clean it: of each file by itself, then of all corpora of a training run.

A recipe that includes this defines TO, the folder of all that is made; DROP, the problems that are
left out; GENERAL_PAIRS, how many pairs are mixed into those of a domain, None for as many; and the
two below.
"""

import itertools
import random

# TEXTS: what the configuration says of a text, by a folder and the name of what is made of it.
# CORPORA: keys of TEXTS, by the name of a training run that reads them.
LANGUAGES = {"languages": config["languages"]} if "languages" in config else {}
for key, text in TEXTS.items():
    check_files(key, text["files"])
    words = ["data", *text["files"], *selection(LANGUAGES | text), "--to=x.tsv", "--drop", *DROP]
    checked(key, program.parse_command_line, words)
HELD_OUT = [  # files of which no model may see a line
    TO / "text" / f"{key}.tsv" for key in TEXTS if key.startswith(("tests/", "validation/"))
]


wildcard_constraints:
    folder="corpora|domain|tests|validation",
    name="[A-Za-z0-9_]+",
    corpora="|".join(CORPORA),


def text_of(wildcards):
    """Returns what the configuration says of a text."""
    return LANGUAGES | TEXTS[f"{wildcards.folder}/{wildcards.name}"]


def problems(wildcards):
    """Returns the flags of what is left out: nothing of the text that scores and validates."""
    kept = wildcards.folder in ("tests", "validation")
    return "" if kept else shlex.join(["--drop", *DROP])


rule text:
    input:
        lambda wildcards: text_of(wildcards)["files"],
    output:
        TO / "text" / "{folder}" / "{name}.tsv",
    log:
        TO / "text" / "{folder}" / "{name}.txt",
    params:
        selection=lambda wildcards: shlex.join(selection(text_of(wildcards))),
        drop=problems,
    shell:
        "{PROGRAM} data {input:q} {params.selection} --to {output:q} {params.drop} > {log:q}"


def cleaned(run):
    """Returns the cleaned corpora of a training run."""
    return [TO / "text" / f"{key}.tsv" for key in CORPORA[run]]


def weighted(run):
    """Returns the corpora of a training run and their weights as words, the highest first."""
    keys = CORPORA[run]
    weights = {key: TEXTS[key].get("weight", 1) for key in keys}
    keys = sorted(keys, key=lambda key: -weights[key])
    return shlex.join(f"{TO / 'text' / key}.tsv:{weights[key]}" for key in keys)


rule corpora:  # a pair stays in the text of the highest weight, and is written as often as that
    input:
        lambda wildcards: cleaned(wildcards.corpora),
        held_out=HELD_OUT,
    output:
        TO / "text" / "{corpora}.tsv",
    log:
        TO / "text" / "{corpora}.txt",
    params:
        corpora=lambda wildcards: weighted(wildcards.corpora),
        languages=shlex.join(selection(LANGUAGES)),
    shell:
        "{PROGRAM} data {params.corpora} {params.languages} --to {output:q} --drop duplicate test "
        "--test {input.held_out:q} > {log:q}"


def different_pairs(path):
    """Yields the lines of the text of a training run, each once: repeated ones follow each other."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line, _ in itertools.groupby(lines):
            yield line


rule general:  # pairs that keep a fine-tuned model from forgetting; the same ones each time
    input:
        base=TO / "text" / "base.tsv",
        domain=TO / "text" / "domain.tsv",
    output:
        TO / "text" / "general.tsv",
    params:
        pairs=GENERAL_PAIRS,
    run:
        total = sum(1 for _ in different_pairs(input.base))
        number = params.pairs or sum(1 for _ in open(input.domain, encoding="utf-8", newline="\n"))
        chosen = {*random.Random(1).sample(range(total), min(number, total))}
        with open(output[0], "w", encoding="utf-8", newline="\n") as sample:
            lines = enumerate(different_pairs(input.base))
            sample.writelines(line for position, line in lines if position in chosen)
