"""From messy files to a translator: clean, train, fine-tune on a domain, compare, export.

    snakemake -s recipes/evening.smk --configfile recipes/project.yaml

What is done is not done again, and after a kill the same command resumes. docs/recipes.md explains
it; project.yaml is an example with comments.
"""

include: "common.smk"
from nmt.text.glossary import read_glossary


GIVEN = ("--run", "--dataset", "--data-path", "--train", "--valid", "--test", "--languages")
GIVEN += ("--columns", "--sheet", "--no-header", "--config", "--from")
check_config("evening.yaml")

TO = Path(config["to"])
DOMAIN = config.get("domain")
TESTS = config["tests"]
LANGUAGES = [f"--languages={config['languages']}"] if "languages" in config else []
DROP = config.get("drop", ["encoding", "columns", "empty", "control"])
RUN = "domain" if DOMAIN else "base"  # the result

# Every text, by the folder and the name of what is made of it.
TEXTS = {f"corpora/{name}": text for name, text in config["corpora"].items()}
TEXTS |= {f"tests/{name}": text for name, text in TESTS.items()}
if DOMAIN:
    TEXTS |= {f"domain/{name}": text for name, text in DOMAIN["corpora"].items()}
for key, text in (("validation/base", config.get("validation")),
                  ("validation/domain", DOMAIN and DOMAIN.get("validation"))):
    if text:
        TEXTS[key] = text
for key, text in TEXTS.items():
    check_files(key, text["files"])
    words = ["data", *text["files"], *LANGUAGES, "--to=x.tsv", "--drop", *DROP]
    checked(key, program.parse_command_line, words)
for name in config.get("exports", []):
    checked("exports", program.parse_command_line, ["export", f"--format={name}"])
for path in config.get("against", []):
    checked("against", listing.find, path)
TRAIN_FLAGS = {"base": flags_of("train", config.get("train", ""), GIVEN)}
if DOMAIN:
    TRAIN_FLAGS["domain"] = flags_of("domain.train", DOMAIN.get("train", ""), GIVEN)
if "glossary" in config:
    checked("glossary", read_glossary, config["glossary"])

RIVALS = {Path(path).name: path for path in config.get("against", [])}
if len(RIVALS) < len(config.get("against", [])) or {"base", "domain"} & RIVALS.keys():
    stop("against: the folders of two runs have the same name; rename one")
if DOMAIN:
    RIVALS["base"] = str(TO / "base")
RESULTS = [f"{test}-against-{name}" for test in TESTS for name in RIVALS]
RESULTS = RESULTS or [f"{test}-alone" for test in TESTS]
if "glossary" in config:
    RESULTS += [f"{test}-with-glossary" for test in TESTS]


wildcard_constraints:
    folder="corpora|domain|tests|validation",
    name="[A-Za-z0-9_]+",
    test="[A-Za-z0-9_]+",
    run="base|domain",
    weight="[0-9]+",


rule all:
    input:
        TO / "report.txt",
        expand(TO / "done" / "export-{format}", format=config.get("exports", [])),


# ---- Text ----


def text_of(wildcards):
    """Returns what the project says of a text."""
    return ({"languages": config["languages"]} if LANGUAGES else {}) | TEXTS[
        f"{wildcards.folder}/{wildcards.name}"
    ]


def problems(wildcards):
    """Returns the flags of what is left out: nothing of the text that scores and validates."""
    kept = wildcards.folder in ("tests", "validation")
    return "" if kept else shlex.join(["--drop", *DROP])


rule text:  # of one corpus
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


rule held_out:  # all that no model may train on
    input:
        [TO / "text" / f"{key}.tsv" for key in TEXTS if key.startswith(("tests/", "validation/"))],
    output:
        TO / "text" / "held-out.tsv",
    shell:
        "cat {input:q} > {output:q}"


# Corpora of the same weight become one text. A pair stays in the text of the highest weight.
CORPORA = {"base": config["corpora"], "domain": DOMAIN["corpora"] if DOMAIN else {}}
FOLDERS = {"base": "corpora", "domain": "domain"}


def weights(run):
    """Returns the weights of the corpora of a training run, the highest first."""
    return sorted({text.get("weight", 1) for text in CORPORA[run].values()}, reverse=True)


def cleaned(wildcards):
    """Returns the cleaned corpora of one weight."""
    return [
        TO / "text" / FOLDERS[wildcards.run] / f"{name}.tsv"
        for name, text in CORPORA[wildcards.run].items()
        if text.get("weight", 1) == int(wildcards.weight)
    ]


def unique(run, above=0):
    """Returns the texts of a training run whose weight is above a number."""
    return [TO / "text" / "merged" / f"{run}-{weight}.tsv" for weight in weights(run) if weight > above]


rule unique:  # the known pairs come first and stay; what follows them is new
    input:
        new=cleaned,
        known=lambda wildcards: unique(wildcards.run, int(wildcards.weight)),
        held_out=TO / "text" / "held-out.tsv",
    output:
        TO / "text" / "merged" / "{run}-{weight}.tsv",
    log:
        TO / "text" / "merged" / "{run}-{weight}.txt",
    shell:
        """
        rm -f {output:q}.all.tsv {output:q}.unique.tsv
        cat {input.known:q} {input.new:q} > {output:q}.all.tsv
        {PROGRAM} data {output:q}.all.tsv --to {output:q}.unique.tsv --drop duplicate test \
            --test {input.held_out:q} > {log:q}
        known=$(cat /dev/null {input.known:q} | wc -l)
        tail -n +$((known + 1)) {output:q}.unique.tsv > {output:q}
        rm {output:q}.all.tsv {output:q}.unique.tsv
        """


# ---- Training ----


def data_flags(run):
    """Returns the flags that name the text of a training run."""
    names = [f"{path}:{weight}" for path, weight in zip(unique(run), weights(run), strict=True)]
    if run == "domain":
        names.append(str(TO / "text" / "general.tsv"))
    words = [*LANGUAGES, "--train", *names, "--test", str(TO / "text/tests" / f"{[*TESTS][0]}.tsv")]
    if f"validation/{run}" in TEXTS:
        words += ["--valid", str(TO / "text/validation" / f"{run}.tsv")]
    return shlex.join(words)


def validation_text(run):
    return [TO / "text/validation" / f"{run}.tsv"] if f"validation/{run}" in TEXTS else []


rule base:
    input:
        unique("base"),
        validation_text("base"),
        TO / "text/tests" / f"{[*TESTS][0]}.tsv",
    output:
        touch(TO / "done" / "base"),
    params:
        run=TO / "base",
        text=data_flags("base"),
        flags=shlex.join(TRAIN_FLAGS["base"]),
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} train --run {params.run:q} {params.text} {params.flags}"


rule general:  # pairs that keep the fine-tuned model from forgetting; the same ones each time
    input:
        domain=unique("domain"),
        base=unique("base"),
    output:
        TO / "text" / "general.tsv",
    params:
        pairs=(DOMAIN or {}).get("general_pairs", ""),
    shell:
        """
        pairs={params.pairs}
        cat {input.base:q} > {output:q}.all
        shuf -n "${{pairs:-$(cat {input.domain:q} | wc -l)}}" --random-source={output:q}.all \
            {output:q}.all > {output:q}
        rm {output:q}.all
        """


rule domain:
    input:
        TO / "done" / "base",
        unique("domain"),
        TO / "text" / "general.tsv",
        validation_text("domain"),
    output:
        touch(TO / "done" / "domain"),
    params:
        run=TO / "domain",
        parent=TO / "base",
        text=data_flags("domain") if DOMAIN else "",
        flags=shlex.join(TRAIN_FLAGS.get("domain", [])),
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} train --run {params.run:q} --from {params.parent:q} {params.text} {params.flags}"


# ---- Results ----


rule scores:
    input:
        TO / "done" / RUN,
        test=TO / "text" / "tests" / "{test}.tsv",
    output:
        TO / "results" / "{test}-alone.txt",
    params:
        run=TO / RUN,
    shell:
        "{PROGRAM} evaluate --run {params.run:q} {input.test:q} > {output:q}"


rule comparison:
    input:
        TO / "done" / RUN,
        test=TO / "text" / "tests" / "{test}.tsv",
    output:
        TO / "results" / "{test}-against-{name}.txt",
    wildcard_constraints:
        name="[^/]+",
    params:
        run=TO / RUN,
        rival=lambda wildcards: RIVALS[wildcards.name],
    shell:
        "{PROGRAM} evaluate --run {params.run:q} --against {params.rival:q} {input.test:q} > {output:q}"


rule translations_with_glossary:
    input:
        TO / "done" / RUN,
        test=TO / "text" / "tests" / "{test}.tsv",
        glossary=config.get("glossary", []),
    output:
        source=TO / "results" / "{test}.source",
        target=TO / "results" / "{test}.glossary",
    params:
        run=TO / RUN,
    shell:
        """
        cut -f 1 {input.test:q} > {output.source:q}
        {PROGRAM} translate --run {params.run:q} --glossary {input.glossary:q} --no-split \
            --input {output.source:q} --output {output.target:q}
        """


rule glossary:
    input:
        translations=TO / "results" / "{test}.glossary",
        test=TO / "text" / "tests" / "{test}.tsv",
    output:
        TO / "results" / "{test}-with-glossary.txt",
    params:
        run=TO / RUN,
    shell:
        "{PROGRAM} evaluate {input.test:q} --hypotheses {input.translations:q} "
        "--against {params.run:q} > {output:q}"


rule report:
    input:
        expand(TO / "results" / "{result}.txt", result=RESULTS),
    output:
        TO / "report.txt",
    shell:
        "tail -n +1 {input:q} > {output:q}"


rule export:
    input:
        TO / "done" / RUN,
    output:
        touch(TO / "done" / "export-{format}"),
    params:
        run=TO / RUN,
        folder=lambda wildcards: TO / "exports" / wildcards.format,
    shell:
        """
        rm -rf {params.folder:q}
        mkdir -p {params.folder:q}
        {PROGRAM} export --run {params.run:q} --format {wildcards.format} --to {params.folder:q}/model
        """


onsuccess:
    print(f"Scores: {TO / 'report.txt'}. Serve it: python run_demo.py serve --run {TO / RUN}")
