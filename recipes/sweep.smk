"""A search for hyperparameters: many runs, ranked by their validation result.

    snakemake -s recipes/sweep.smk --configfile recipes/sweep.yaml

Trains a run for each combination of values, or for some at random; then writes ranking.tsv,
ranking.md and ranking.png. docs/workflows.md explains it; sweep.yaml is an example with comments.
"""

import itertools
import json
import math
import random
import re

include: "common.smk"


GIVEN = {"--run", "--config"}
check_config("sweep.yaml")

TO = Path(config["to"])
VALUES = config["values"]
METRIC = config.get("metric", "loss")
FLAGS = flags_of("flags", config.get("flags", ""), GIVEN)


# ---- The runs ----


def draw(values, generator):
    """Returns a value at random: one of a list, or of a range, to three significant digits."""
    if isinstance(values, list):
        return generator.choice(values)
    low, high = values["low"], values["high"]
    if values.get("log"):
        number = math.exp(generator.uniform(math.log(low), math.log(high)))
    else:
        number = generator.uniform(low, high)
    if isinstance(low, int) and isinstance(high, int):
        return min(max(round(number), low), high)
    return float(f"{number:.3g}")


def combinations():
    """Yields values of all flags: all combinations, or as many as `runs` says, all different."""
    lists = all(isinstance(values, list) for values in VALUES.values())
    if "runs" not in config:
        if not lists:
            stop("values: a range needs runs, the number of them that are drawn at random")
        yield from itertools.product(*VALUES.values())
        return
    for name, values in VALUES.items():
        if isinstance(values, dict) and not values["low"] < values["high"]:
            stop(f"values.{name}: low must be below high")
        if isinstance(values, dict) and values.get("log") and values["low"] <= 0:
            stop(f"values.{name}: log needs low above 0")
    generator, drawn = random.Random(config.get("seed", 1)), set()
    for _ in range(100 * config["runs"]):
        combination = tuple(draw(values, generator) for values in VALUES.values())
        if combination not in drawn:
            drawn.add(combination)
            yield combination
        if len(drawn) == config["runs"]:
            return
    stop(f"runs: {config['runs']} are asked for, but the values have only {len(drawn)} combinations")


def words_of(combination):
    """Returns the flags of one combination of values."""
    words = []
    for name, value in zip(VALUES, combination, strict=True):
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words.append(f"--{name}={value}")
    return words


def name_of(combination):
    """Returns the name of a run, which stays the same whatever values are added later."""
    parts = [f"{name}-{value}" for name, value in zip(VALUES, combination, strict=True)]
    return re.sub(r"[^\w.+-]", "_", "_".join(parts))


RUNS = {name_of(combination): words_of(combination) for combination in combinations()}
for name, words in RUNS.items():
    flags_of("values", shlex.join([*FLAGS, *words]), GIVEN)


wildcard_constraints:
    name="[^/]+",


rule all:
    input:
        TO / "ranking.tsv",
        TO / "ranking.png",


rule train:
    output:
        touch(TO / "done" / "{name}"),
    params:
        run=lambda wildcards: TO / wildcards.name,
        flags=lambda wildcards: shlex.join([*FLAGS, *RUNS[wildcards.name]]),
    threads: WHOLE_MACHINE
    shell:
        "{PROGRAM} train --run {params.run:q} {params.flags}"


# ---- The ranking ----


def validation_of(name):
    """Returns the validation result of a run by metric, as its scores.json holds it."""
    return json.loads((TO / name / "scores.json").read_text())["validation"]


def ranking():
    """Returns the names of all runs, the best first."""
    results = {name: validation_of(name) for name in RUNS}
    if any(METRIC not in result for result in results.values()):
        stop(f"metric: the runs were not validated by {METRIC}; train them with --validate-by {METRIC}")
    sign = 1 if METRIC == "loss" else -1
    return sorted(RUNS, key=lambda name: sign * results[name][METRIC])


def rows():
    """Returns the rows of the table, its head first."""
    table = [["rank", METRIC, *VALUES, "run"]]
    values = {name_of(combination): combination for combination in combinations()}
    for rank, name in enumerate(ranking(), start=1):
        result = f"{validation_of(name)[METRIC]:.4g}"
        table.append([str(rank), result, *map(str, values[name]), str(TO / name)])
    return table


rule ranking:
    input:
        expand(TO / "done" / "{name}", name=RUNS),
    output:
        tsv=TO / "ranking.tsv",
        markdown=TO / "ranking.md",
    params:
        metric=METRIC,
    run:
        table = rows()
        Path(output.tsv).write_text("".join("\t".join(row) + "\n" for row in table))
        table.insert(1, ["---"] * len(table[0]))
        lines = [f"| {' | '.join(row)} |\n" for row in table]
        Path(output.markdown).write_text("".join(lines))


rule picture:
    input:
        TO / "ranking.tsv",
    output:
        TO / "ranking.png",
    shell:
        "{PROGRAM} plot sweep --ranking {input:q} --to {output:q}"


onsuccess:
    print((TO / "ranking.tsv").read_text(), end="")
