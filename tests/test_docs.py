"""What must hold of the documents: links lead somewhere, commands and code are right."""

import contextlib
import inspect
import itertools
import json
import operator
import os
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import MagicMock
from unittest.mock import call as call_of

import nbclient
import nbformat
import numpy as np
import pytest
from helpers import ROOT, call, user_environment
from packaging.utils import canonicalize_name

import nmt
import params
import run_demo
import transformer_model
from lessons.exercises import EXERCISES, verdict
from nmt import documents
from nmt.cli import main
from nmt.decoding.engines import choice
from nmt.exports import formats

ENGLISH, CHINESE = ROOT / "README.md", ROOT / "docs" / "README.zh-CN.md"
NOTEBOOK, CHINESE_NOTEBOOK = (
    ROOT / "docs" / f"walkthrough{ending}.ipynb" for ending in ("", ".zh-CN")
)
DOCS = sorted(ROOT.glob("docs/**/*.md"))
PAGES = [
    NOTEBOOK,
    CHINESE_NOTEBOOK,
    *sorted(ROOT.glob("*.md")),
    *DOCS,
    *sorted(ROOT.glob("benchmarks/*.md")),
]
TWINS = [  # the same page in English and Chinese
    (ENGLISH, CHINESE),
    *(
        (page, twin)
        for page in PAGES
        if page.suffix == ".md" and (twin := page.with_suffix(".zh-CN.md")).exists()
    ),
]
PROGRAMS = r"(?:run_demo|(?:benchmarks|data|docs|lessons|recipes)/\w+)\.py"
CHINESE_TWINS = {twin for _, twin in TWINS}
BLOCK = r"(?:^ {4}.*\n|^\n(?= {4}))+"  # indented by four spaces
WELL_FORMED = r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~%+-]*)*(#[\w-]+)?"
REGISTRIES = ("pypi.org", "pythonhosted.org", "anaconda.org", "npmjs.com")
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def cells(kind, path=NOTEBOOK):
    """Returns the source of a notebook's cells of a kind."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def text(page):
    """Returns what a page says, as Markdown."""
    if page.suffix == ".ipynb":
        return "\n\n".join(cells("markdown", page))
    return page.read_text(encoding="utf-8")


def dedent(block):
    """Returns an indented block of a page without the indentation."""
    return re.sub(r"^ {4}", "", block, flags=re.M).strip("\n")


def blocks(page):
    """Returns the indented blocks of code of a page, without the indentation."""
    return [dedent(block) for block in re.findall(BLOCK, text(page), re.M)]


def anchors(page):
    """Returns the anchors that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def commands(page):
    """Returns the commands of a page that run a program of this project, each as its words."""
    lines = "\n".join(blocks(page)).replace("\\\n", " ").splitlines()
    lines += re.findall(r"`([^`\n]*python [^`]*)`", text(page))
    page_commands = []
    for line in lines:
        for command in re.findall(rf"python ({PROGRAMS}[^&|;]*)", line):
            command = re.sub(r"\s[<>] \S+|\[[^\]]*\]", "", command)  # without what is optional
            page_commands.append(shlex.split(command, comments=True))
    return page_commands


@pages
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", text(page))
    for target in targets:
        if "://" in target:
            assert re.fullmatch(WELL_FORMED, target)
            assert not any(host in target for host in REGISTRIES)
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if path.endswith(".py"):  # the lines are checked with the reference
            assert re.fullmatch(r"(L\d+)?", anchor), target
        else:
            assert not anchor or anchor in anchors(there), target
    for path in re.findall(r"`((?:nmt|tests|benchmarks|docs|data|shared)/[\w./]*)`", text(page)):
        assert (ROOT / path).exists(), path


@pages
def test_every_table_has_a_header_and_as_many_cells_in_each_row(page):
    for is_table, lines in itertools.groupby(text(page).splitlines(), lambda s: s[:1] == "|"):
        if is_table:
            header, rule, *_ = table = [*lines]
            borders = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
            assert re.fullmatch(r"\|(?:-+\|)+", rule), header
            assert len(set(borders)) == 1, header


def test_the_glossary_has_each_word_once_in_alphabetical_order():
    rows = re.findall(r"^\| ([^|]+) \|", text(ROOT / "docs" / "glossary.md"), re.M)
    words = [word.lower() for word in rows[1:]]  # without the header
    assert words == sorted(set(words))


@pages
def test_commands_are_those_of_the_program(page):
    page_commands = commands(page)
    for program, *arguments in page_commands:
        assert (ROOT / program).is_file()
        if program == "run_demo.py":
            with contextlib.suppress(SystemExit):  # as --help ends; what is wrong is a UserError
                main.parse_command_line(arguments)
        else:
            options = (ROOT / program).read_text(encoding="utf-8")
            for lesson in re.findall(r"^from lessons import (\w+)", options, re.M):
                options += (ROOT / "lessons" / f"{lesson}.py").read_text(encoding="utf-8")
            for flag in (word for word in arguments if word.startswith("--")):
                assert f'"{flag}"' in options, (program, flag)
    assert page_commands or page not in (ENGLISH, CHINESE)


@pytest.fixture(scope="module")
def quick(finished, tmp_path_factory):
    """A folder with the run that the pages speak of, runs/quick."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(finished / "run", folder / "runs" / "quick")
    return folder


EXPORTS = {  # formats, by the paths in the examples
    "runs/quick/export/saved_model/1": "saved_model", "runs/quick/export/model.keras": "keras",
    "runs/quick/export/ctranslate2": "ctranslate2", "runs/quick/export/litert": "litert",
    "runs/quick/export/huggingface": "huggingface",
}  # fmt: skip
SLOW_EXPORTS = {"huggingface", "litert", "saved_model"}  # take long to write or to read


def exports(code):
    """Returns the exports that an example reads, format by path."""
    return {path: kind for path, kind in EXPORTS.items() if path in code}


class Example(NamedTuple):
    """A block of Python of a page."""

    code: str
    output: str | None  # the block after it, if the page says that it prints this


def examples(page):
    """Returns the examples of a page. A line such as "It prints:" comes before an output."""
    parts = re.split(f"({BLOCK})", text(page), flags=re.M)
    prose, code_blocks = parts[2::2], [dedent(block) for block in parts[1::2]]
    outputs = [
        block if re.search(r"(prints.*:|输出.*：)\s*$", before) else None
        for before, block in zip(prose, code_blocks[1:], strict=False)
    ]
    return [
        Example(block, output)
        for block, output in itertools.zip_longest(code_blocks, outputs)
        if re.match(r"(import|from) ", block)
    ]


EXAMPLES = [
    pytest.param(
        example,
        id=f"{page.name}-{number}",
        marks=[pytest.mark.slow] if SLOW_EXPORTS & {*exports(example.code).values()} else [],
    )
    for page in PAGES
    if page.suffix == ".md" and page not in CHINESE_TWINS  # which have the same code: see below
    for number, example in enumerate(examples(page))
]


@pytest.mark.parametrize("example", [it for it in EXAMPLES if it.values[0].output is None])
def test_python_in_the_pages_runs(quick, monkeypatch, example, capfd):
    monkeypatch.chdir(quick)
    for path, kind in exports(example.code).items():
        if not Path(path).exists():
            assert call("export", "--format", kind) == 0
    capfd.readouterr()
    exec(example.code, {})
    assert capfd.readouterr().out


def test_a_tracker_gets_the_row_of_each_epoch(monkeypatch):
    """Trackers are large packages: a stand-in notes what they get."""
    row, module = {"epoch": 1, "val_loss": 2.0}, MagicMock()
    for name in ("mlflow", "trackio", "wandb"):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(nmt, "train", lambda run, on_epoch, **_: on_epoch(row))
    blocks = map(dedent, re.findall(BLOCK, text(ROOT / "docs" / "runs.md"), re.MULTILINE))
    (block,) = (block for block in blocks if "on_epoch=" in block)
    exec(block, {})
    assert module.log_metrics.mock_calls == [call_of(row, step=1)]
    assert module.log.mock_calls == [call_of(row, step=1)] * 2


@pytest.mark.parametrize("example", [it for it in EXAMPLES if it.values[0].output is not None])
def test_python_in_the_pages_prints_what_they_say(example, capfd):
    exec(example.code, {})
    assert capfd.readouterr().out == example.output + "\n"


def test_pages_are_short_and_the_index_names_them_all():
    generated = ("commands.md", "api.md")
    pages = [page for page in [ENGLISH, *DOCS] if page.name not in generated]
    lengths = {page.name: len(re.findall("^(?!<!--).*\n", text(page), re.M)) for page in pages}
    assert {name: length for name, length in lengths.items() if length > 150} == {}
    for index, pages_named in (
        ("index.md", {page for page in DOCS if page not in CHINESE_TWINS}),
        ("index.zh-CN.md", {page for page in DOCS if page in CHINESE_TWINS}),
    ):
        links = re.findall(r"\]\(([\w./-]+\.md)\)", text(ROOT / "docs" / index))
        names = {str(page.relative_to(ROOT / "docs")) for page in pages_named}
        assert names - {index} <= {*links}


def test_the_reference_is_that_of_the_program():
    program = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
    for name, expected in program["pages"]().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == expected


def first_number(cell):
    """Returns the first number in a cell of a table; None where there is none."""
    match = re.search(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?", cell)
    return float(match[0].replace(",", "")) if match else None


def test_sources_in_the_help_agree_with_the_table_of_values():
    constants = {param.name.upper(): param for param in params.table()}
    line = r"^\| [^|]+ \| ([^|]+) \| ([^|]+) \| [^|]+ \| \[`(\w+)`\]\(\.\./params\.py#L\d+\)(.*)\|$"
    rows = re.findall(line, text(ROOT / "docs" / "names.md"), re.M)
    for paper, tutorial, name, note in rows:
        default, meaning = constants[name].default, constants[name].flag.help
        if quoted := re.search(r"paper[^:;()]*: ([\d.]+)", meaning):
            assert float(quoted[1]) == first_number(paper), name
        elif "paper" in meaning:
            assert default == first_number(paper), name
        if "tutorial" in meaning and not note.strip():
            assert default == first_number(tutorial), name
    sourced = {
        name
        for name, param in constants.items()
        if param.type in (int, float) and "tutorial" in param.flag.help
    }
    assert sourced <= {name for _, _, name, _ in rows}


def test_the_versions_that_were_tested_are_those_that_the_requirements_allow():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line[0] != "#"]
    versions = dict(line.split("==") for line in lines)
    for requirement in runpy.run_path(str(ROOT / "docs" / "make_constraints.py"))["requirements"]():
        version = versions.get(canonicalize_name(requirement.name), "none")
        why = f"{requirement} is not in constraints.txt: run python docs/make_constraints.py"
        assert version in requirement.specifier, why


def test_every_preset_has_a_row_in_the_recipes():
    rows = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs" / "recipes.md").read_text(), re.M)
    assert {*rows} == params.PRESETS.keys()


@pytest.mark.parametrize(("page", "twin"), TWINS, ids=lambda page: page.name)
def test_both_languages_show_the_same_commands_code_and_figures(page, twin):
    def bare(page):
        return [re.sub(r"\s*#.*", "", block, flags=re.M) for block in blocks(page)]

    pairs = zip(bare(page), bare(twin), strict=True)
    differing = [pair for pair in pairs if len(set(pair)) > 1]
    assert differing == []
    rows = [re.findall(r"^\|(.*)\|$", text(each), re.M) for each in (page, twin)]
    figures = [[sorted(re.findall(r"\d(?:[\d,.]*\d)?", row)) for row in each] for each in rows]
    assert figures[0] == figures[1]


@pytest.mark.parametrize(("page", "twin"), TWINS, ids=lambda page: page.name)
def test_a_page_begins_with_a_link_to_its_other_language(page, twin):
    for here, there in ((page, twin), (twin, page)):
        link = os.path.relpath(there, here.parent)
        assert f"]({link})" in "".join(text(here).splitlines()[:5])


def outputs(cell):
    """Returns what a cell of the notebook printed, and the kinds of pictures that it showed."""
    printed = [out["text"] for out in cell.get("outputs", ()) if out.get("name") == "stdout"]
    shown = [sorted(out["data"]) for out in cell.get("outputs", ()) if "data" in out]
    return "".join(printed), shown


STUB = re.compile(r"""def mine\((.*)\): \.\.\.\n\n\ncheck\("([^"]+)", mine(?:, "zh")?\)""")
NOISE = "it/s|s/it|cuInit|absl"  # of a progress bar, and of TensorFlow's start
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
notebooks = pytest.mark.parametrize(
    "path", [NOTEBOOK, CHINESE_NOTEBOOK], ids=lambda path: path.name
)


def read_cells(path, kind):
    """Returns the cells of a notebook of a kind."""
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def test_both_notebooks_run_the_same_code_and_show_the_same():
    english, chinese = (nbformat.read(path, as_version=4) for path in (NOTEBOOK, CHINESE_NOTEBOOK))
    for cell, other in zip(english.cells, chinese.cells, strict=True):
        assert (cell.cell_type, cell.id) == (other.cell_type, other.id)
        if cell.cell_type == "code":
            assert other.source.replace(', mine, "zh")', ", mine)") == cell.source
            assert outputs(other)[1] == outputs(cell)[1]
            assert STUB.fullmatch(cell.source) or outputs(other) == outputs(cell), cell.id


@notebooks
def test_sections_are_numbered_questions(path):
    titles = re.findall(r"^## (\d+)\. .+[?？]", text(path), re.M)
    assert titles == [str(number) for number in range(1, len(titles) + 1)]
    assert len(titles) == len(re.findall("^## ", text(path), re.M)) >= 19


@notebooks
def test_each_exercise_has_a_stub_that_is_checked_and_says_what_to_do(path):
    language = "zh" if path == CHINESE_NOTEBOOK else "en"
    stubs = []
    for cell in read_cells(path, "code"):
        if "check(" in cell.source:
            arguments, name = STUB.fullmatch(cell.source).groups()
            stubs.append(name)
            assert EXERCISES[name].en.startswith(f"f({arguments}) -> ")
            assert outputs(cell)[0] == verdict(name, lambda *_: None, language) + "\n"
    assert stubs == sorted(EXERCISES, key=stubs.index)


@notebooks
def test_no_warning_error_or_frozen_progress_bar_is_stored(path):
    for cell in read_cells(path, "code"):
        assert {out.get("name", "stdout") for out in cell.outputs} <= {"stdout"}, cell.id
        assert "error" not in {out["output_type"] for out in cell.outputs}, cell.id
        assert not re.search(rf"{NOISE}|\r", outputs(cell)[0]), cell.id


def quoted_numbers(markdown):
    """Returns the numbers that a text gives: not those of formulas, links, years and sections.

    Integers below 100 count things that can be seen; decimals are results in formulas, too.
    """
    markdown = re.sub(r"arXiv \d+\.\d+", " ", markdown)
    results = re.findall(r"(?<![\d.])\d+\.\d{2,}(?![\d.])", markdown)
    prose = re.sub(
        r"\$\$.*?\$\$|\$.*?\$|\]\(.*?\)|`.*?`|\b(?:19|20)\d\d\b", " ", markdown, flags=re.S
    )
    integers = re.findall(rf"(?<![\d.]){NUMBER}(?![\d.])", prose)
    return {*results, *(number for number in integers if float(number.replace(",", "")) >= 100)}


@notebooks
def test_the_notebook_computes_every_number_that_its_text_quotes(path):
    known = set()
    for cell in read_cells(path, "code"):
        known |= {*re.findall(NUMBER, cell.source + "\n" + outputs(cell)[0])}
    known = {number.replace(",", "") for number in known}
    for cell in read_cells(path, "markdown"):
        unknown = {number for number in quoted_numbers(cell.source)} - known
        unknown = {number for number in unknown if number.replace(",", "") not in known}
        assert unknown == set(), cell.id


@notebooks
def test_code_that_the_notebook_shows_is_that_of_the_program(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if shown := re.fullmatch(r"source\((model|run_demo)\.([\w.]+)\)", cell.source):
            module = {"model": transformer_model, "run_demo": run_demo}[shown[1]]
            function = operator.attrgetter(shown[2])(module)
            (output,) = cell.outputs
            assert output["data"]["text/plain"] == inspect.getsource(function).rstrip()


def assert_about_equal(printed, expected, place):
    """Checks that two texts differ in their numbers only, and by no more than rounding explains."""
    assert re.sub(NUMBER, "0", printed) == re.sub(NUMBER, "0", expected), place
    values = [
        [float(number.replace(",", "")) for number in re.findall(NUMBER, text)]
        for text in (printed, expected)
    ]
    np.testing.assert_allclose(*values, rtol=0.02, atol=0.02, err_msg=place)


TRAINED = {"warm-up", "training", "explore"}  # cells whose figures depend on how processors round


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_is_saved_in_it(tmp_path):
    """Its training in one epoch of short pairs, to save minutes: what follows needs translations.

    With the bundled training text; few lines are scored.
    """
    saved = nbformat.read(NOTEBOOK, as_version=4)
    again = nbformat.read(NOTEBOOK, as_version=4)
    (cell,) = (cell for cell in again.cells if cell.id == "training")
    bundled = ROOT / "data" / "pt_en"
    few = tmp_path / "few.tsv"
    few.write_text(
        "".join(text(bundled / "test.tsv").splitlines(keepends=True)[:50]), encoding="utf-8"
    )
    quick = "--preset quick --epochs 1 --max-length 9 --warmup-steps 100"
    quick += f" --train {bundled / 'train.tsv'} --valid {few} --test {few}"
    cell.source = cell.source.replace("--preset quick", quick)
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "docs").mkdir()  # where Jupyter opens it
    where = {"metadata": {"path": str(tmp_path / "docs")}}
    kernel = user_environment(PYTHONPATH=str(ROOT))
    nbclient.NotebookClient(again, timeout=1200, resources=where).execute(env=kernel)
    for cell, run in zip(saved.cells, again.cells, strict=True):
        if cell.id in TRAINED:
            assert bool(outputs(run)[0]) == bool(outputs(cell)[0])
        else:
            assert_about_equal(outputs(run)[0], outputs(cell)[0], cell.id)
        assert outputs(run)[1] == outputs(cell)[1]
        assert not [out for out in run.get("outputs", ()) if out.get("name") == "stderr"], cell.id
        assert not re.search(NOISE, outputs(run)[0]), cell.id
    assert (tmp_path / "runs" / "walkthrough" / "scores.json").exists()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("documents.md", [*documents.FORMATS]),
        ("export.md", [*formats.FORMATS]),
        ("engines.md", [*choice.ENGINES]),
    ],
)
def test_a_page_names_all_that_its_table_in_the_code_holds(page, names):
    words = re.findall(r"[\w.]+", text(ROOT / "docs" / page))
    assert set(names) <= set(words)


# ---- What a teacher is given ----


EXPLORER = ROOT / "nmt" / "results" / "explorer"
TEACHERS_PAGES = ("sheet", "quiz", "answers", "teaching")


@pytest.mark.parametrize(
    ("page", "language", "quoted"),
    [("teaching.md", 0, '"([^"]+)"'), ("teaching.zh-CN.md", 1, "“([^”]+)”")],
)
def test_what_a_plan_shows_is_in_the_page_to_try(page, language, quoted):
    texts = json.loads((EXPLORER / "texts.json").read_text(encoding="utf-8")).values()
    steps = re.findall(r"^\| \d+-\d+ \|.*", text(ROOT / "docs" / page), re.M)
    named = {name for step in steps for name in re.findall(quoted, step)}
    assert len(named) > 5
    assert named <= {each[language] for each in texts}


@pytest.mark.parametrize("page", ["teaching.md", "teaching.zh-CN.md"])
def test_a_plan_fills_its_minutes_without_a_gap(page):
    plans = re.split(r"^## ", text(ROOT / "docs" / page), flags=re.M)
    ends = []
    for plan in plans:
        if rows := re.findall(r"^\| (\d+)-(\d+) \|", plan, re.M):
            starts = [int(start) for start, _ in rows]
            assert starts == [0, *(int(end) for _, end in rows[:-1])]
            ends.append(int(rows[-1][1]))
            assert re.match(str(ends[-1]), plan)
    assert ends == [45, 90, 180]


@pytest.mark.parametrize("ending", [".md", ".zh-CN.md"])
def test_each_question_of_the_sheet_and_of_the_quiz_has_one_answer(ending):
    sheet, quiz, answers, plans = (text(ROOT / "docs" / f"{it}{ending}") for it in TEACHERS_PAGES)
    questions = re.findall(r"^\*\*([AB]\d+)\.", sheet, re.M)
    assert questions == re.findall(r"^\*\*([AB]\d+)\.", answers, re.M)
    assert {*questions} == {*re.findall(r"(?:sheet|练习单) ([AB]\d+)", plans)}
    numbers = [str(number) for number in range(1, 13)]
    assert re.findall(r"^\*\*(\d+)\. .+[?？]\*\*$", quiz, re.M) == numbers
    assert re.findall(r"^- ([A-Z])\. ", quiz, re.M) == [*"ABCD"] * 12
    right = dict(re.findall(r"^\| (\d+) \| ([A-D]) \|", answers, re.M))
    assert [*right] == numbers
    assert {*right.values()} == {*"ABCD"}


def test_ten_slides_lead_to_drawings_and_to_parts_of_the_page_to_try():
    slides = (ROOT / "docs" / "slides.html").read_text(encoding="utf-8")
    assert len(slides) < 100_000
    assert len(re.findall("<section ", slides)) == 10
    parts = re.findall(r'<section id="([\w-]+)"', (EXPLORER / "page.html").read_text("utf-8"))
    links = re.findall(r'(?:src|href)="([^"#]+)(?:#([^"]+))?"', slides)
    for path, part in links:
        assert (ROOT / "docs" / path).is_file(), path
        assert not part or part in parts, part
    drawings = {path.name for path in (ROOT / "docs" / "drawings").glob("*.svg")}
    english = {f"drawings/{name}" for name in drawings if ".zh-CN" not in name}
    assert english <= {path for path, _ in links}


# ---- What pages quote is what the commands of docs/outputs/ have printed ----


make_outputs = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "make_outputs.py")))
OUTPUTS = {path.stem: make_outputs.read(path) for path in make_outputs.FOLDER.glob("*.txt")}
QUOTES = [
    pytest.param(name, block, id=f"{page.name}-{name}-{number}")
    for page in PAGES
    for number, (name, block) in enumerate(
        re.findall(r"<!-- \S*outputs/([\w-]+)\.txt -->\n+((?:.+\n)+)", text(page))
    )
]


def names(stamped):
    """Returns the names of the outputs that have a stamp, or of those that have none."""
    return sorted(name for name, output in OUTPUTS.items() if bool(output.made_from) is stamped)


@pytest.mark.parametrize(("name", "block"), QUOTES)
def test_a_page_quotes_what_was_printed(name, block):
    output = OUTPUTS[name].text
    if block.startswith("    "):
        assert all(line in output for line in dedent(block).splitlines())
    known = {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", output)}
    quoted = {*quoted_numbers(block), *re.findall(r"\d+\.\d+", block)}
    assert {number.replace(",", "") for number in quoted} <= known


def test_each_output_is_quoted():
    pages = "".join(map(text, PAGES))
    assert [name for name in OUTPUTS if f"outputs/{name}.txt" not in pages] == []


@pytest.mark.parametrize("name", names(stamped=True))
def test_what_an_output_was_made_from_has_not_changed(name):
    path = make_outputs.FOLDER / f"{name}.txt"
    assert path.read_text(encoding="utf-8") == OUTPUTS[name].written(), (
        f"made from something else: python docs/make_outputs.py {name}, then correct the pages"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", names(stamped=False))
def test_an_output_is_what_the_command_prints(name, tmp_path):
    assert_about_equal(OUTPUTS[name].again(tmp_path).text, OUTPUTS[name].text, name)


make_palettes = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "make_palettes.py")))


@pytest.mark.parametrize("name", ["walkthrough.ipynb", "walkthrough.zh-CN.ipynb"])
def test_pictures_of_notebooks_have_a_palette(name):
    notebook = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))
    found = make_palettes.pictures(notebook)
    assert len(found) == 15
    for data in found:
        picture = "".join(data["image/png"])
        assert make_palettes.with_palette(picture) == picture
