"""Distillation: a student learns from what stronger teachers write.

    snakemake -s recipes/distill.smk --configfile recipes/distill.yaml

Trains teachers, which differ in their seeds; translates the training text with all of them together;
trains a student on the pairs and on these translations (Kim and Rush 2016, arXiv 1606.07947).
docs/distillation.md explains the variants and what they cost.
"""

include: "common.smk"
from nmt.corpus import files


GIVEN = {"--run", "--seed", "--reverse", "--dataset", "--data-path", "--train", "--valid", "--test"}
GIVEN |= {"--languages", "--columns", "--sheet", "--no-header", "--config"}
check_config("distill.yaml")

TO = Path(config["to"])
FLAGS = flags_of("flags", config.get("flags", ""), GIVEN)
TEACHER_FLAGS = flags_of("teacher_flags", config.get("teacher_flags", ""), GIVEN)
STUDENT_FLAGS = flags_of("student_flags", config.get("student_flags", ""), GIVEN)
SELECTION = selection(config)
STUDENTS = range(1, config.get("students", 1) + 1)
BEAM, N_BEST = config.get("beam", 5), config.get("n_best", 1)
GROUPS = checked("train", files.grouped, config["train"])  # files of pairs, or two aligned files
for key in ("train", "valid", "test"):
    for group in checked(key, files.grouped, config[key]):
        check_files(key, group.paths)


# ---- Teachers, and who translates what ----


def teachers(direction, number, runs):
    """Returns the runs of the teachers of a direction: those that are named, or `number` new ones."""
    prefix = "backward-" if direction == "backward" else ""
    names = [str(TO / f"{prefix}teacher-{seed}") for seed in range(1, number + 1)]
    return config.get(runs) or names


TEACHERS = {
    "forward": teachers("forward", config.get("teachers", 3), "teacher_runs"),
    "backward": teachers("backward", config.get("backward_teachers", 0), "backward_runs"),
}
ENSEMBLES = {}  # the runs that translate together, by the name of their translations
for direction, runs in TEACHERS.items():
    together = [[run] for run in runs] if config.get("separately") else [runs] if runs else []
    ENSEMBLES |= {f"{direction}-{n}": ensemble for n, ensemble in enumerate(together, start=1)}

for key in ("teacher_runs", "backward_runs"):
    for path in config.get(key, []):
        checked(key, listing.find, path)
if N_BEST > BEAM:
    stop(f"n_best: {N_BEST} exceeds beam, {BEAM}; raise the latter")
is_ctranslate2 = config.get("engine") == "ctranslate2" or "quantization" in config
if is_ctranslate2 and any(len(ensemble) > 1 for ensemble in ENSEMBLES.values()):
    stop("engine: CTranslate2 translates with one teacher, not with an ensemble; add separately: "
         "true, or leave out engine and quantization")


def done(runs):
    """Returns the files that say of those runs that the recipe trains that they are complete."""
    return [TO / "done" / Path(run).name for run in runs if Path(run).parent == TO]


def data_flags(train):
    """Returns the flags that name the text of a training run."""
    return shlex.join(
        [*SELECTION, "--train", *train, "--valid", *config["valid"], "--test", *config["test"]]
    )


TRAIN_FILES = [path for group in GROUPS for path in group.paths]
PAIRS = str(TO / "pairs" / "distilled.tsv")


rule all:
    input:
        PAIRS,
        expand(TO / "done" / "student-{seed}", seed=STUDENTS),


rule teacher:
    input:
        TRAIN_FILES,
    output:
        touch(TO / "done" / "{direction,|backward-}teacher-{seed,[0-9]+}"),
    params:
        run=lambda wildcards: TO / f"{wildcards.direction}teacher-{wildcards.seed}",
        text=data_flags(config["train"]),
        flags=shlex.join([*FLAGS, *TEACHER_FLAGS, "--no-plots"]),
        other_direction=lambda wildcards: "--reverse" if wildcards.direction else "",
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} train --run {params.run:q} --seed {wildcards.seed} {params.text} {params.flags} "
        "{params.other_direction}"


# ---- Translations ----


rule part:  # of the text: one corpus
    input:
        lambda wildcards: GROUPS[int(wildcards.number)].paths,
    output:
        temp(TO / "text" / "part-{number}.tsv"),
    params:
        selection=shlex.join(SELECTION),
    shell:
        "{PROGRAM} data {input:q} {params.selection} --to {output:q} --drop empty"


rule text:  # all pairs, each once; and both sides of them, a line each
    input:
        expand(TO / "text" / "part-{number}.tsv", number=range(len(GROUPS))),
    output:
        pairs=TO / "text" / "given.tsv",
        forward=TO / "text" / "forward.txt",
        backward=TO / "text" / "backward.txt",
    shell:
        """
        {PROGRAM} data {input:q} --to {output.pairs:q} --drop empty duplicate
        cut -f 1 {output.pairs:q} > {output.forward:q}
        cut -f 2 {output.pairs:q} > {output.backward:q}
        """


def translate_flags(wildcards):
    """Returns the flags of the search, of the engine and of the teachers."""
    words = [f"--beam={BEAM}"]
    words += [f"--{key}={config[key]}" for key in ("engine", "quantization") if key in config]
    if N_BEST > 1:
        reference = "backward" if wildcards.direction == "forward" else "forward"
        words += [f"--n-best={N_BEST}", f"--closest-to={TO / 'text' / reference}.txt"]
    for run in ENSEMBLES[f"{wildcards.direction}-{wildcards.number}"]:
        words += ["--run", run]
    return shlex.join(words)


rule translation:  # after a kill, `translate` resumes what stands in FILE.partial
    input:
        lambda wildcards: done(ENSEMBLES[f"{wildcards.direction}-{wildcards.number}"]),
        TO / "text" / "given.tsv",
        source=TO / "text" / "{direction}.txt",
    output:
        TO / "translations" / "{direction,forward|backward}-{number}.txt",
    params:
        flags=translate_flags,
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} translate --input {input.source:q} --output {output:q} --no-split {params.flags}"


# ---- Students ----


rule pairs:  # each once, and none of those that are given: these come first, and are cut off again
    input:
        given=TO / "text" / "given.tsv",
        sources=TO / "text" / "forward.txt",
        targets=TO / "text" / "backward.txt",
        translations=expand(TO / "translations" / "{name}.txt", name=ENSEMBLES),
    output:
        PAIRS,
    params:
        known="/dev/null" if config.get("only_distilled") else TO / "text" / "given.tsv",
    shell:
        """
        rm -f {output:q}.all.tsv {output:q}.unique.tsv
        cat {params.known:q} > {output:q}.all.tsv
        for file in {input.translations:q}; do
            case "$file" in
                */forward-*) paste {input.sources:q} "$file" ;;
                *) paste "$file" {input.targets:q} ;;
            esac
        done >> {output:q}.all.tsv
        {PROGRAM} data {output:q}.all.tsv --to {output:q}.unique.tsv --drop empty duplicate
        known=$(cat {params.known:q} | wc -l)
        tail -n +$((known + 1)) {output:q}.unique.tsv > {output:q}
        rm {output:q}.all.tsv {output:q}.unique.tsv
        if [ ! -s {output:q} ]; then
            echo "The teachers' translations are the given ones: nothing to distill. Train the" \
                "student on the given pairs alone." >&2
            exit 2
        fi
        """


rule student:
    input:
        PAIRS,
        TRAIN_FILES,
    output:
        touch(TO / "done" / "student-{seed,[0-9]+}"),
    params:
        run=lambda wildcards: TO / f"student-{wildcards.seed}",
        text=data_flags([*([] if config.get("only_distilled") else config["train"]), PAIRS]),
        flags=shlex.join([*FLAGS, *STUDENT_FLAGS]),
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} train --run {params.run:q} --seed {wildcards.seed} {params.text} {params.flags}"
