"""Builds the site: README, docs, notebooks and the code that they lead to, with a search.

python docs/make_site.py               # site/index.html opens without a server
python docs/make_site.py --site DIR

A link between two files of the repository leads to the same place on the site, whose folders are
those of the repository. Pages are copied into a folder first, in the Markdown that the generator
reads: a notebook becomes a page, and so does a file of code that a page leads to, with the lines
as anchors. The rest is set in docs/mkdocs.yml. Needs the packages of requirements-dev.txt.
"""

import argparse
import itertools
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["NO_MKDOCS_2_WARNING"] = "true"  # an advertisement, before the theme is imported

from icu4py.breakers import WordBreaker
from latex2mathml.converter import convert
from mkdocs.commands import build as generator
from mkdocs.config import load_config
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, TextLexer

ROOT = Path(__file__).resolve().parents[1]
THEME = ROOT / "docs" / "site"  # what mkdocs.yml adds to the theme
PAGES = ["*.md", "docs/**/*.md", "benchmarks/*.md", "data/*.md", "docs/*.ipynb"]
TO_TRY = ROOT / "docs" / "try.html"
TEXTS = {".md", ".ipynb"}
PICTURES = {".png", ".svg", ".gif", ".html"}  # and pages that a program wrote: copied as they are
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
CODE = re.compile(r"^ {4}.*$|^(?P<fence>`{3,})[\s\S]*?^(?P=fence)$|`[^`\n]+`", re.M)
FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>\S(?:[^$\n]*\S)?)\$", re.S)
HAN = "[\u3400-\u9fff]"
BREAK = "\u200b"  # zero-width: parts the words of the search index


def outside_code(change: Callable[[str], str], text: str) -> str:
    """Returns a page's Markdown with `change` applied to all of it but code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def formulas(text: str) -> str:
    """Returns Markdown with its formulas in MathML, which browsers draw without a script."""

    def mathml(match: re.Match[str]) -> str:
        display = "block" if match["block"] else "inline"
        formula = convert(match["block"] or match["inline"], display=display)
        return f'<span class="formula">{formula}</span>'

    return FORMULA.sub(mathml, text)


def fence(language: str, code: str) -> str:
    """Returns a block of code in Markdown, whatever marks the code holds."""
    return f"`````{language}\n{code.rstrip()}\n`````"


def output_blocks(outputs: list[dict], picture: str) -> Iterator[str]:
    """Yields what a cell of a notebook printed and showed, in Markdown."""
    for output in outputs:
        data = output.get("data", {})
        if output.get("name") == "stdout":
            yield fence("text", "".join(output["text"]))
        elif "image/png" in data:
            source = "".join(data["image/png"]).replace("\n", "")
            yield f"![{picture}](data:image/png;base64,{source})"
        elif "text/latex" in data:  # as IPython shows the source of a function
            yield fence("python", "".join(data["text/plain"]))
        elif "text/html" in data:  # a link to a file that the notebook writes
            yield fence("text", re.sub("<[^>]+>", "", "".join(data["text/html"])))


def notebook(path: Path, change: Callable[[str], str]) -> str:
    """Returns a notebook as a page: its texts, changed, its code, and what the code showed."""
    chinese = is_chinese(path)
    picture = "上面的代码画出的图" if chinese else "What the code above draws"
    blocks = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(outside_code(formulas, change(source)))
        else:
            blocks += [fence("python", source), *output_blocks(cell["outputs"], picture)]
    download = "下载这个 notebook" if chinese else "Download this notebook"
    title, _, body = blocks[0].partition("\n")
    blocks[0] = f"{title}\n\n[{download}]({path.name})\n{body}"
    return "\n\n".join(blocks)


def listing(path: Path) -> str:
    """Returns a file of code as a page, each line with the anchor that GitHub gives it."""
    lexer = PythonLexer() if path.suffix == ".py" else TextLexer()
    formatter = HtmlFormatter(linespans="L", wrapcode=True)
    code = highlight(path.read_text(encoding="utf-8"), lexer, formatter)
    head = "---\nhide: [toc]\nsearch: {boost: 0.2}\n---\n"
    return f"{head}# {path.name}\n\n" + re.sub(r'id="L-(\d+)"', r'id="L\1"', code)


def page_name(path: Path) -> Path:
    """Returns the name of a file's page: a notebook or code has the ending .md behind its own."""
    as_it_is = path.suffix in {".md", *PICTURES}
    return path if as_it_is else path.with_name(path.name + ".md")


def follow(page: Path, target: str) -> Path | None:
    """Returns the file of the repository that a link of a page leads to; None for another site."""
    if "://" in target:
        return None
    path = (page.parent / target).resolve()
    return path if path.is_file() and path.is_relative_to(ROOT) else None


class Pages:
    """Copies pages into a folder, and whatever their links lead to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: list[Path] = []
        self.written: set[Path] = set()

    def link(self, page: Path, match: re.Match[str]) -> str:
        """Returns a link of `page` as it is on the site, and remembers to write its target."""
        target, anchor = match[1], match[2] or ""
        path = follow(page, target)
        if path is None or path.suffix in PICTURES:
            return match[0]
        self.waiting.append(path)
        return str(Path(target).with_name(page_name(path).name)) + anchor

    def links(self, page: Path, text: str) -> str:
        """Returns Markdown of `page` with its links as they are on the site."""
        return outside_code(lambda part: LINK.sub(lambda it: self.link(page, it), part), text)

    def write(self, path: Path) -> None:
        """Writes the page of a file of the repository."""
        self.written.add(path)
        if path.suffix == ".ipynb":
            text = notebook(path, lambda cell: self.links(path, cell))
            shutil.copy(path, self.folder / path.relative_to(ROOT))
        elif path.suffix == ".md":
            text = self.links(path, path.read_text(encoding="utf-8"))
            text = text.replace("<details>", "<details markdown>")  # Markdown goes on inside
        else:
            text = listing(path)
        copy = self.folder / page_name(path).relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if copy.with_suffix(".html").exists():
            raise SystemExit(f"{path.with_suffix('.html').name} and {path.name} would be one page")
        copy.write_text(text, encoding="utf-8")

    def write_all(self) -> None:
        """Writes every page, and the pictures."""
        for path in ROOT.glob("docs/**/*"):
            if path.suffix in PICTURES and THEME not in path.parents:
                copy = self.folder / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
        self.waiting = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
        while self.waiting:
            if (path := self.waiting.pop()) not in self.written:
                self.write(path)


def rows(index: Path) -> dict[str, dict[str, Path]]:
    """Returns the pages that the tables of an index lead to: by section, then by title."""
    sections: dict[str, dict[str, Path]] = {}
    for line in index.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = sections.setdefault(line.removeprefix("## "), {})
        elif row := re.fullmatch(r"\|.*\| \[([^]]+)\]\(([^)#]+)\).*\|", line):
            section[row[1]] = (index.parent / row[2]).resolve()
    return sections


def navigation(pages: set[Path]) -> list[dict]:
    """Returns the site's navigation, which is that of both indexes, as mkdocs.yml writes it.

    The first tab is the page to try; a page's title is what an index calls it. In Chinese it
    leaves out the pages in English, which the other has. Files of code come last.
    """

    def entries(sections: dict[str, dict[str, Path]], chinese: bool) -> list[dict]:
        titled = {
            title: [
                {name: source(path)} for name, path in named.items() if chinese <= is_chinese(path)
            ]
            for title, named in sections.items()
        }
        return [{title: section} for title, section in titled.items() if section]

    def source(path: Path) -> str:
        return str(page_name(path).relative_to(ROOT))

    sections = rows(ROOT / "docs" / "index.md")
    english = entries(sections, chinese=False)
    chinese = entries(rows(ROOT / "docs" / "index.zh-CN.md"), chinese=True)
    indexed = {path for named in sections.values() for path in named.values()}
    code = [
        {path.name: source(path)} for path in sorted(pages - indexed) if path.suffix not in TEXTS
    ]
    return [
        {"Try it": source(TO_TRY)},
        {"Start": [{"Home": "README.md"}, {"Documentation": "docs/index.md"}]},
        *english,
        {"Code": code},
        {"中文": [{"首页": "docs/README.zh-CN.md"}, {"文档": "docs/index.zh-CN.md"}, *chinese]},
    ]


def is_chinese(path: Path) -> bool:
    """Says whether a page is in Chinese, by its name."""
    return ".zh-CN" in path.suffixes


def terms() -> list[str]:
    """Returns the glossary's words of two characters, some of which are in no dictionary."""
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return sorted(set(re.findall(rf"\| ({HAN}{{2}}) \|", glossary)))


def part_words(text: str, words: re.Pattern[str]) -> str:
    """Returns a text whose Chinese words are parted by BREAK, so that each is found by itself."""

    def parted(match: re.Match[str]) -> str:
        pieces = [part for part in words.split(match[0]) if part]
        known = [[part] if words.fullmatch(part) else WordBreaker(part, "zh") for part in pieces]
        return BREAK.join(["", *itertools.chain.from_iterable(known), ""])

    return re.sub(f"{HAN}+", parted, text)


def part_words_of_index(site: Path) -> None:
    """Parts the Chinese words in the search index, and writes it as a script, too, for file://."""
    index = site / "search" / "search_index.json"
    entries = json.loads(index.read_text(encoding="utf-8"))
    words = re.compile("(" + "|".join(terms()) + ")")
    for entry in entries["docs"]:
        for field in ("title", "text"):
            entry[field] = part_words(entry[field], words)
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    index.write_text(text, encoding="utf-8")
    index.with_suffix(".js").write_text(f"var __index = {text}", encoding="utf-8")


def build(site: Path) -> None:
    """Builds the site in a folder, which is emptied first; a warning is an error."""
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages(Path(folder))
        pages.write_all()
        nav = navigation(pages.written)
        settings = dict(docs_dir=folder, site_dir=str(site.resolve()), strict=True, nav=nav)
        generator.build(load_config(str(ROOT / "docs" / "mkdocs.yml"), **settings))
    part_words_of_index(site)
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):  # which need the site's address
        (site / name).unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "site", help="the folder to write")
    build(parser.parse_args().site)
