"""A run learns from corrections, is compared with what it was, and replaces it if it is better.

    snakemake -s recipes/corrections.smk --configfile recipes/corrections.yaml

Each round has its own numbered folder. A round that trains already is finished with the corrections
that it began with; if the files are others or newer then, the same command begins the next one.
docs/corrections.md explains it; corrections.yaml is an example with comments.
"""

import json

include: "common.smk"
from nmt.results import verdict


GIVEN = ("--run", "--dataset", "--data-path", "--train", "--valid", "--test", "--languages")
GIVEN += ("--columns", "--sheet", "--no-header", "--config", "--from")
DEFAULT_FLAGS = "--epochs 4 --schedule cosine --warmup-steps 20 --learning-rate-scale 0.03"
check_config("corrections.yaml")


def settings_of(folder):
    """Returns what a round was begun with: the configuration, or {} if it has not begun."""
    path = folder / "begun"
    return json.loads(path.read_text()) if path.exists() else {}


def current_round(folder, paths):
    """Returns the folder of the round that is to be done, or that was if nothing is new.

    Args:
      folder: of all rounds.
      paths: of the corrections.
    """
    numbers = [int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal()]
    newest = folder / str(max(numbers, default=1))
    if not (newest / "finished").exists():
        return newest
    begun = (newest / "begun").stat().st_mtime
    is_newer = any(Path(path).stat().st_mtime > begun for path in paths)
    if is_newer or settings_of(newest)["corrections"] != paths:
        return folder / str(int(newest.name) + 1)
    return newest


FILES = config["corrections"]
check_files("corrections", FILES)
TO = current_round(Path(config["to"]), FILES)
RUN = TO / "run"
TESTS = config["tests"]
DROP = config.get("drop", ["encoding", "columns", "empty", "control"])
GENERAL_PAIRS = config.get("general_pairs", 2000)
LINK = config.get("replace") and str(Path(config["replace"]))  # without a / at its end
SETTINGS = {key: value for key, value in config.items() if key not in ("better", "replace")}

checked("run", listing.find, config["run"])
if LINK and Path(LINK).exists() and not Path(LINK).is_symlink():
    stop(f"replace: {LINK} is no symbolic link; move the run, and make one: ln -s RUN {LINK}")
if LINK and not Path(LINK).parent.is_dir():
    stop(f"replace: there is no folder {Path(LINK).parent}; make it, or name another link")
if RUN.exists() and (begun := settings_of(TO)) != SETTINGS:
    keys = [key for key in begun | SETTINGS if begun.get(key) != SETTINGS.get(key)]
    stop(f"{TO} was begun with another {', '.join(keys)}; give the same, name another `to`, or remove the folder")
if "corrections" in TESTS:
    stop("tests: corrections is the name of those that are held out; choose another")
TEXTS = {f"corpora/{name}": text for name, text in config["corpora"].items()}
TEXTS |= {f"tests/{name}": text for name, text in TESTS.items()}
TEXTS["validation/domain"] = config["validation"]
CORPORA = {"base": [f"corpora/{name}" for name in config["corpora"]]}

# The corrections are read by a rule of their own, below.
CORPORA["domain"] = ["domain/corrections"]
TEXTS["domain/corrections"] = {"files": FILES, "weight": config.get("weight", 4)}
TEXTS["tests/corrections"] = {"files": FILES}

include: "corpora.smk"


TRAIN_FLAGS = flags_of("train", config.get("train", f"{DEFAULT_FLAGS} --no-plots"), GIVEN)
HELD_OUT_CORRECTIONS = TO / "text" / "tests" / "corrections.tsv"


wildcard_constraints:
    test="[A-Za-z0-9_]+",


rule all:
    input:
        TO / "finished",


rule corrections:  # those that come later are for the next round, once the run is trained
    input:
        [ancient(path) for path in FILES] if RUN.exists() else FILES,
    output:
        begun=TO / "begun",
        old=TO / "old-run.txt",  # `run` may lead to another run later
        train=TO / "text" / "domain" / "corrections.tsv",
        test=HELD_OUT_CORRECTIONS,
    log:
        TO / "text" / "domain" / "corrections.txt",
    params:
        selection=shlex.join(selection(LANGUAGES)),
        drop=shlex.join(DROP),
        test=config["test"],
        run=config["run"],
        settings=json.dumps(SETTINGS),
    shell:
        """
        printf '%s' {params.settings:q} > {output.begun:q}
        readlink -f {params.run:q} > {output.old:q}
        {PROGRAM} data {input:q} {params.selection} --to {output.train:q} --drop {params.drop} \
            --hold-out {output.test:q} --newest {params.test} > {log:q}
        """


ruleorder: corrections > text


rule train:
    input:
        old=TO / "old-run.txt",
        train=[TO / "text" / "domain.tsv", TO / "text" / "general.tsv"],
        valid=TO / "text" / "validation" / "domain.tsv",
        test=HELD_OUT_CORRECTIONS,
    output:
        touch(TO / "done"),
    params:
        run=RUN,
        languages=shlex.join(selection(LANGUAGES)),
        flags=shlex.join(TRAIN_FLAGS),
    threads: WHOLE_MACHINE
    shell:
        '{PROGRAM} train --run {params.run:q} --from "$(cat {input.old:q})" {params.languages} '
        "--train {input.train:q} --valid {input.valid:q} --test {input.test:q} {params.flags}"


rule comparison:
    input:
        TO / "done",
        old=TO / "old-run.txt",
        test=TO / "text" / "tests" / "{test}.tsv",
    output:
        TO / "results" / "{test}.json",
    params:
        run=RUN,
    shell:
        '{PROGRAM} evaluate {input.test:q} --run {params.run:q} --against "$(cat {input.old:q})" '
        "--json > {output:q}"


# ---- Better, or not ----


def decide(paths):
    """Returns the Verdict by the files of the comparisons, that of the corrections first."""
    corrections, *tests = (verdict.read_change(Path(path).stem, path) for path in paths)
    return verdict.judge(corrections, tests, **config.get("better", {}))


def target_of(link):
    """Returns the path of the run as a symbolic link has it, which begins in the link's folder."""
    return os.path.relpath(RUN.resolve(), Path(link).parent.resolve())


def replacement():
    """Returns the commands that let the new run be used, as text."""
    link = LINK or "runs/current"
    target = target_of(link)
    return (
        f"To use it where {link} is a link:\n\n"
        f"    ln -s {shlex.quote(target)} {shlex.quote(f'{link}.new')}\n"
        f"    mv -T {shlex.quote(f'{link}.new')} {shlex.quote(link)}\n\n"
        f"Or serve it: python run_demo.py serve --run {shlex.quote(str(RUN))}\n"
    )


rule report:
    input:
        expand(TO / "results" / "{test}.json", test=["corrections", *TESTS]),
        old=TO / "old-run.txt",
    output:
        TO / "report.txt",
    params:
        better=config.get("better"),
    run:
        result = decide(input[:-1])
        old_run = Path(input.old).read_text().strip()
        text = f"{result.line}\n\n{result.table()}\n\nBefore: {old_run}\nAfter: {RUN}\n"
        if not result.is_better:
            text += "Nothing is replaced.\n"
        elif not LINK:
            text += f"\n{replacement()}"
        Path(output[0]).write_text(text)


rule replace:  # the last step; a link is exchanged, so that it leads to a whole run at any time
    input:
        expand(TO / "results" / "{test}.json", test=["corrections", *TESTS]),
        report=TO / "report.txt",
    output:
        touch(TO / "finished"),
    params:
        link=LINK,
    run:
        if LINK and decide(input[:-1]).is_better:
            new = Path(f"{LINK}.new")
            new.unlink(missing_ok=True)
            new.symlink_to(target_of(LINK))
            new.replace(LINK)


onsuccess:
    if (TO / "report.txt").exists():
        text = (TO / "report.txt").read_text()
        if LINK and text.startswith("Better"):
            text += f"{LINK} leads to {RUN} now.\n"
        first, _, details = text.partition("\n")
        print(f"{details.strip()}\n\n{first}")
