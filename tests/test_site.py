"""What must hold of the site of docs/make_site.py, and of the workflow that publishes it."""

import collections
import html.parser
import json
import re
import runpy
import sys
import tomllib
import urllib.parse

import pytest
import yaml
from helpers import ROOT, run_process
from markdown_it import MarkdownIt
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PROGRAM = ROOT / "docs" / "make_site.py"
WORKFLOW = ROOT / ".github" / "workflows" / "check.yml"
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# What a renderer of Markdown makes of lists, tables, code and the rest.
STRUCTURE = {
    "blockquote", "code", "details", "em", "h1", "h2", "h3", "h4", "img", "li", "ol", "p", "pre",
    "strong", "table", "tr", "ul",
}  # fmt: skip


class Page(html.parser.HTMLParser):
    """What a page of HTML leads to, loads, and can be led to by."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.tags = collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags[tag] += tag in STRUCTURE
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in LOADED and attributes.get(LOADED[tag]):
            self.loaded.append(attributes[LOADED[tag]])


@pytest.fixture(scope="module")
def program():
    """The functions of docs/make_site.py."""
    return runpy.run_path(str(PROGRAM))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built without a warning."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, str(PROGRAM), "--site", str(folder)]
    output = run_process(command)
    assert (output.returncode, output.stdout, output.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Each page of the site, by its path there; not the pages that another program wrote."""
    paths = [path for path in site.rglob("*.html") if not (ROOT / path.relative_to(site)).exists()]
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


def written_pages():
    """Returns the project's pages, each with its path on the site."""
    paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    for path in [*paths, ROOT / "data" / "README.md"]:
        name = path.with_suffix(".html").relative_to(ROOT)
        yield path, name.with_name("index.html") if path.name == "README.md" else name


@pytest.mark.slow
def test_nothing_of_the_site_comes_from_another_host(site, pages):
    loaded = [url for page in pages.values() for url in page.loaded]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    loaded += re.findall(r"url\(\s*[\"']?([^)\"']+)", styles) + re.findall(r"@import[^;]+", styles)
    assert [url for url in loaded if re.match(r"(\w+:)?//|@import", url)] == []


@pytest.mark.slow
def test_every_link_of_the_site_leads_to_a_file_and_an_anchor(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("data", "http", "https"):
                continue
            target = (
                (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            )
            anchor = urllib.parse.unquote(parts.fragment)
            in_page = not anchor or target not in pages or anchor in pages[target].anchors
            if parts.scheme or not target.is_file() or not in_page:
                dead.append((path.name, link))
    assert dead == []


@pytest.mark.slow
def test_the_navigation_leads_to_every_page(site, pages):
    home = (site / "index.html").read_text(encoding="utf-8")
    navigation = home[home.index('<nav class="md-nav md-nav--primary') : home.index("<article")]
    reached = {(site / urllib.parse.unquote(link)).resolve() for link in Page(navigation).links}
    assert pages.keys() <= reached | {site / "index.html"}
    assert {site / name for _, name in written_pages()} <= pages.keys()
    assert {
        site / "docs" / f"walkthrough{language}.ipynb.html" for language in ("", ".zh-CN")
    } <= pages.keys()


@pytest.mark.slow
def test_the_first_tab_is_the_page_to_try_and_the_slides_are_there(site):
    for name, link in (("index", "docs/try.html"), ("docs/faq", "try.html")):
        home = (site / f"{name}.html").read_text(encoding="utf-8")
        assert re.findall(r'<a href="([^"]+)" class="md-tabs__link', home)[0] == link
    for name in ("try", "slides"):
        copy = site / "docs" / f"{name}.html"
        assert copy.read_bytes() == (ROOT / "docs" / f"{name}.html").read_bytes()


@pytest.mark.slow
def test_the_site_shows_the_lists_tables_and_code_that_a_repository_shows(site):
    """The generator's Markdown differs from GitHub's in what begins a list or ends it."""
    github = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    for path, name in written_pages():
        text = (site / name).read_text(encoding="utf-8")
        article = text[text.index("<article") : text.index("</article>")]
        assert Page(article).tags == Page(github.render(path.read_text(encoding="utf-8"))).tags, (
            path
        )


@pytest.mark.slow
def test_the_buttons_of_a_page_speak_its_language(site):
    for name, words in (("index", ("en", "Search")), ("index.zh-CN", ("zh", "搜索"))):
        text = (site / "docs" / f"{name}.html").read_text(encoding="utf-8")
        assert (
            re.search(r'<html lang="(\w+)', text)[1],
            re.search('placeholder="(.+?)"', text)[1],
        ) == words


@pytest.mark.slow
def test_both_search_indexes_hold_the_words_of_both_languages(site):
    text = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert (site / "search" / "search_index.js").read_text(
        encoding="utf-8"
    ) == f"var __index = {text}"
    assert "\u200b" in text
    words = {
        word
        for entry in json.loads(text)["docs"]
        for word in re.split("[\u200b\\s]+", entry["text"])
    }
    assert {"beam", "placeholders", "注意力", "掩码", "词元"} <= words


def search(driver, words):
    """Types words into the search of the open page. Returns the addresses of the results."""
    driver.find_element(By.CSS_SELECTOR, ".md-search__input").click()
    field = driver.find_element(By.CSS_SELECTOR, ".md-search__input")
    field.clear()
    field.send_keys(words)

    def results(driver):
        links = driver.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
        return [link.get_attribute("href") for link in links]

    return WebDriverWait(driver, 60).until(results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "words", "result"),
    [
        ("docs/index.html", "minimum Bayes risk", "docs/decoding.html"),
        ("docs/index.zh-CN.html", "掩码", "docs/pitfalls.zh-CN.html"),
    ],
)
def test_a_search_without_a_server_finds_a_page(site, driver, page, words, result):
    driver.get((site / page).as_uri())
    assert any(result in link for link in search(driver, words))


@pytest.mark.slow
def test_keys_move_through_the_slides_and_all_drawings_load(site, driver):
    driver.get((site / "docs" / "slides.html").as_uri())
    shown = (
        "return [...document.querySelectorAll('section')].filter((it) => it.offsetParent !== null)"
    )
    for key, slide in ((Keys.ARROW_LEFT, 1), (Keys.ARROW_RIGHT, 2), (Keys.END, 10), (Keys.UP, 9)):
        driver.find_element(By.TAG_NAME, "body").send_keys(key)
        assert [it.get_attribute("id") for it in driver.execute_script(shown)] == [f"s{slide}"]
        assert f"{slide} / 10" in driver.find_element(By.ID, "where").text
    widths = "return [...document.images].map((it) => it.naturalWidth)"
    assert driver.execute_script(widths) == [1280] * 7


@pytest.mark.slow
def test_all_code_is_monospaced_and_formulas_need_no_script(site, driver):
    driver.get((site / "docs" / "walkthrough.ipynb.html").as_uri())
    code = "[...document.querySelectorAll('article pre, article code')]"
    families = driver.execute_script(f"return {code}.map((it) => getComputedStyle(it).fontFamily)")
    assert families
    assert all("monospace" in family for family in families)
    assert driver.execute_script("return document.querySelectorAll('math msqrt').length") > 1
    assert "\\sqrt" not in driver.find_element(By.TAG_NAME, "article").text


# ---- The parts of the program ----


def test_a_page_that_would_replace_another_is_refused(program, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "faq.html").touch()
    with pytest.raises(SystemExit, match=r"faq\.html and faq\.md would be one page"):
        program["Pages"](tmp_path).write(ROOT / "docs" / "faq.md")


def test_formulas_become_mathml_but_not_in_code(program):
    text = "of $d_k$ and `$PATH` and\n\n    echo $HOME $USER\n\ncosts $5"
    page = program["outside_code"](program["formulas"], text)
    assert page.count("<math") == 1
    assert "`$PATH`" in page
    assert "echo $HOME $USER" in page
    assert "costs $5" in page


def test_chinese_words_are_parted_and_the_glossary_knows_some(program):
    words = re.compile("(" + "|".join(program["terms"]()) + ")")
    text = program["part_words"]("BLEU 是机器翻译的分数，掩码遮住填充。", words)
    assert {"机器", "翻译", "掩码", "填充"} <= {*re.split("[\u200b\\s，。]", text)}
    assert text.replace("\u200b", "") == "BLEU 是机器翻译的分数，掩码遮住填充。"


@pytest.mark.parametrize("name", ["index.md", "index.zh-CN.md"])
def test_the_navigation_calls_no_page_by_the_name_of_its_file(program, name):
    sections = program["rows"](ROOT / "docs" / name)
    titled = [row for section in sections.values() for row in section.items()]
    assert len(titled) > 40
    assert [title for title, path in titled if title in (path.name, path.name.split(".")[0])] == []


def test_both_indexes_lead_to_the_same_pages_in_the_same_order(program):
    english, chinese = (
        [*program["rows"](ROOT / "docs" / name).values()] for name in ("index.md", "index.zh-CN.md")
    )

    def bare(sections):
        return [
            [path.name.replace(".zh-CN", "") for path in section.values()] for section in sections
        ]

    assert bare(english) == bare(chinese)


# ---- The workflow ----


def test_the_workflow_names_what_exists_and_every_supported_python():
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    files = {word for line in commands for word in line.split() if re.search(r"\w/\w|\.txt", word)}
    assert files == {".ci/run", "docs/make_site.py", "requirements-dev.txt"}
    assert all((ROOT / name).is_file() for name in files)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    first, end = (int(minor) for minor in re.findall(r"3\.(\d+)", project["requires-python"]))
    versions = [f"3.{minor}" for minor in range(first, end)]
    assert jobs["check"]["strategy"]["matrix"]["python"] == versions


def test_only_the_job_that_publishes_may_write():
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    allowed = {
        name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job
    }
    assert allowed == {"site": {"contents": "read", "pages": "write", "id-token": "write"}}
    assert workflow["jobs"]["site"]["if"] == "github.ref == 'refs/heads/main'"
