"""From messy files to a translator: clean, train, fine-tune on a domain, compare, export.

    snakemake -s recipes/evening.smk --configfile recipes/project.yaml

What is done is not done again, and after a kill the same command resumes. docs/workflows.md explains
it; project.yaml is an example with comments.
"""

include: "common.smk"
from nmt.exports.formats import FORMATS
from nmt.results import verdict
from nmt.text.glossary import read_glossary


GIVEN = ("--run", "--dataset", "--data-path", "--train", "--valid", "--test", "--languages")
GIVEN += ("--columns", "--sheet", "--no-header", "--config", "--from")
check_config("evening.yaml")

TO = Path(config["to"])
DOMAIN = config.get("domain")
TESTS = config["tests"]
DROP = config.get("drop", ["encoding", "columns", "empty", "control"])
GENERAL_PAIRS = (DOMAIN or {}).get("general_pairs")
RUN = "domain" if DOMAIN else "base"  # the result

TEXTS = {f"corpora/{name}": text for name, text in config["corpora"].items()}
TEXTS |= {f"tests/{name}": text for name, text in TESTS.items()}
CORPORA = {"base": [f"corpora/{name}" for name in config["corpora"]]}
if DOMAIN:
    TEXTS |= {f"domain/{name}": text for name, text in DOMAIN["corpora"].items()}
    CORPORA["domain"] = [f"domain/{name}" for name in DOMAIN["corpora"]]
    TEXTS["validation/domain"] = DOMAIN.get("validation") or {
        "files": [path for text in DOMAIN["corpora"].values() for path in text["files"]]
    }
if "validation" in config:
    TEXTS["validation/base"] = config["validation"]
elif any(text.get("weight", 1) > 1 for text in config["corpora"].values()):
    stop("a weight needs validation: pairs that are held out for it would be repeated, too")

include: "corpora.smk"


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
GAINS = [TO / "results" / f"{test}-gain.json" for test in TESTS if DOMAIN]
RESULTS = [f"{test}-against-{name}" for test in TESTS for name in RIVALS]
RESULTS = RESULTS or [f"{test}-alone" for test in TESTS]
if "glossary" in config:
    RESULTS += [f"{test}-with-glossary" for test in TESTS]


wildcard_constraints:
    test="[A-Za-z0-9_]+",


rule all:
    input:
        TO / "report.txt",
        expand(TO / "done" / "export-{format}", format=config.get("exports", [])),


# ---- Text of the domain ----

DOMAIN_VALIDATION = TO / "text" / "validation" / "domain.tsv"
if DOMAIN and "validation" not in DOMAIN:

    rule domain_text:  # whose last pairs validate what is trained on it, and the base never sees
        input:
            cleaned("domain"),
            held_out=[path for path in HELD_OUT if path != DOMAIN_VALIDATION],
        output:
            text=TO / "text" / "domain.tsv",
            validation=DOMAIN_VALIDATION,
        log:
            TO / "text" / "domain.txt",
        params:
            corpora=weighted("domain"),
            languages=shlex.join(selection(LANGUAGES)),
            pairs=DOMAIN.get("validation_pairs", 100),
        shell:
            "{PROGRAM} data {params.corpora} {params.languages} --to {output.text:q} "
            "--hold-out {output.validation:q} --newest {params.pairs} --drop duplicate test "
            "--test {input.held_out:q} > {log:q}"

    ruleorder: domain_text > corpora
    ruleorder: domain_text > text


# ---- Training ----


def data_flags(run):
    """Returns the flags that name the text of a training run."""
    names = [str(TO / "text" / f"{run}.tsv")]
    if run == "domain":
        names.append(str(TO / "text" / "general.tsv"))
    test = TO / "text" / "tests" / f"{[*TESTS][0]}.tsv"
    words = [*selection(LANGUAGES), "--train", *names, "--test", str(test)]
    if f"validation/{run}" in TEXTS:
        words += ["--valid", str(TO / "text/validation" / f"{run}.tsv")]
    return shlex.join(words)


def validation_text(run):
    return [TO / "text/validation" / f"{run}.tsv"] if f"validation/{run}" in TEXTS else []


rule base:
    input:
        TO / "text" / "base.tsv",
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


rule domain:  # trained again if its text has changed; the run before is kept as domain-before
    input:
        TO / "done" / "base",
        text=[TO / "text" / "domain.tsv", TO / "text" / "general.tsv", *validation_text("domain")],
    output:
        touch(TO / "done" / "domain"),
    params:
        run=TO / "domain",
        checksums=TO / "done" / "domain.sha256",
        parent=TO / "base",
        text=data_flags("domain") if DOMAIN else "",
        flags=shlex.join(TRAIN_FLAGS.get("domain", [])),
    threads: WHOLE_MACHINE
    shell:
        """
        if [ -f {params.checksums:q} ] && ! sha256sum --status --check {params.checksums:q}; then
            if [ -f {params.run:q}/scores.json ]; then  # it had ended
                rm -rf {params.run:q}-before
                mv {params.run:q} {params.run:q}-before
            fi
            rm -rf {params.run:q}
        fi
        sha256sum {input.text:q} > {params.checksums:q}
        {PROGRAM} train --run {params.run:q} --from {params.parent:q} {params.text} {params.flags}
        """


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


rule gain:
    input:
        TO / "done" / "domain",
        test=TO / "text" / "tests" / "{test}.tsv",
    output:
        TO / "results" / "{test}-gain.json",
    params:
        run=TO / "domain",
        base=TO / "base",
    shell:
        "{PROGRAM} evaluate --run {params.run:q} --against {params.base:q} {input.test:q} --json "
        "> {output:q}"


def domain_verdict():
    """Returns the Verdict on the domain's run beside the base, by the first test set."""
    first, *others = (verdict.read_change(test, path) for test, path in zip(TESTS, GAINS))
    judged = verdict.judge(first, [], significant=False)
    return judged._replace(changes=[first, *others])


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


def sums_of_text():
    """Yields, of each text, how many of its pairs are written, and what is left out."""
    for name in (*TEXTS, *CORPORA):
        path = TO / "text" / f"{name}.txt"
        if path.exists():
            yield path.read_text().splitlines()[-1]


rule report:
    input:
        GAINS,
        results=expand(TO / "results" / "{result}.txt", result=RESULTS),
    output:
        TO / "report.txt",
    run:
        parts = ["\n".join(["==> Text <==", *sums_of_text()])]
        if DOMAIN:
            judged = domain_verdict()
            parts.append(f"==> domain beside base <==\n{judged.line}\n\n{judged.table()}")
        for path in map(Path, input.results):
            parts.append(f"==> {path.stem} <==\n{path.read_text().rstrip()}")
        Path(output[0]).write_text("\n\n".join(parts) + "\n")


rule export:
    input:
        TO / "done" / RUN,
    output:
        touch(TO / "done" / "export-{format}"),
    params:
        run=TO / RUN,
        folder=lambda wildcards: TO / "exports" / wildcards.format,
        ending=lambda wildcards: Path(FORMATS[wildcards.format].file_name).suffix,
    shell:
        """
        rm -rf {params.folder:q}
        mkdir -p {params.folder:q}
        {PROGRAM} export --run {params.run:q} --format {wildcards.format} \
            --to {params.folder:q}/model{params.ending}
        """


onsuccess:
    if (TO / "report.txt").exists():
        judged = domain_verdict() if DOMAIN else None
        better = TO / RUN if judged is None or judged.is_better else TO / "base"
        words = ["python", "run_demo.py", "serve", "--run", str(better)]
        words += ["--glossary", config["glossary"]] if "glossary" in config else []
        said = f" {judged.line}" if judged else ""
        print(f"Scores: {TO / 'report.txt'}.{said} Serve it: {shlex.join(words)}")
