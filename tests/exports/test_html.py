"""What must hold of the page that translates: one file, the program's text, a browser alone."""

import json
import re
import time

import pytest
from helpers import (
    ROOT,
    BrowserPage,
    as_dataset,
    call,
    check_contrasts,
    refused,
    sentences,
    transformer_for,
)
from selenium.webdriver import ActionChains, Keys

import run_demo
from nmt.decoding.search_options import Protecting, SearchOptions
from nmt.exports import html_file
from nmt.exports.browser import browser_model
from nmt.exports.exported_model import Export, ModelCard
from nmt.runs import loading
from nmt.text import spelling
from nmt.text.learned_words import LearnedWords, in_case
from nmt.text.sentences import split

MARKUP = "um </script><b>dois</b> &amp; <img src=x onerror=alert(1)>"
CARD = ModelCard("my </script> run", languages=("pt", "en"), example=MARKUP)


def random_export(tokenizer, card=CARD):
    """Returns an Export of a network of random weights."""
    return Export(transformer_for(tokenizer, num_layers=1), tokenizer, card=card)


def data(html):
    """Returns what a page holds."""
    (held,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', html, re.S)
    return json.loads(held)


# ---- Assembly ----


def test_a_page_is_one_file_that_fetches_nothing(tokenizer):
    html = html_file.page(random_export(tokenizer))
    held = data(html)
    assert (held["name"], held["example"]) == (CARD.name, MARKUP)
    assert (held["source"], held["targets"]) == ("pt", [dict(code="en", tag="")])
    assert html.count("</script>") == 5
    assert "<b>" not in html
    assert "http:" not in html
    assert "https:" not in html
    assert re.findall(r'(?:src|href)="(.*?)"', html) == ["data:,"]
    assert "default-src 'none'" in html
    assert "<noscript><style>header, main, footer { display: none }" in html
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(", html)


def test_texts_of_the_page_are_in_both_languages_and_all_are_used():
    texts = json.loads((html_file.FOLDER / "texts.json").read_text(encoding="utf-8"))
    places = re.compile(r"\{\w+\}")
    for name, (english, chinese) in texts.items():
        assert english, name
        assert chinese, name
        assert sorted(places.findall(english)) == sorted(places.findall(chinese)), name
    frame, program = ((html_file.FOLDER / name).read_text() for name in ("page.html", "page.js"))
    used = {*re.findall(r'data-(?:text|label)="([\w-]+)"', frame)}
    assert used | {*re.findall(r'(?:say|note)\("([\w-]+)"', program)} <= texts.keys()
    assert [name for name in texts.keys() - used if f'"{name}"' not in program] == []


def test_the_command_writes_a_page_of_the_run(finished, tmp_path, capsys):
    html = tmp_path / "page.html"
    command = ["export", "--run", finished / "run", "--format", "html"]
    assert call(*command, "--to", html, "--languages", "pt-en") == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(html)
    assert "neither protects" in printed.err
    held = data(html.read_text(encoding="utf-8"))
    assert held["name"] == "run"
    assert held["source"] == "pt"
    first, *_ = (finished / "run" / "translations.txt").read_text().split("\t")
    assert held["example"] == first


def test_what_a_page_cannot_hold_is_refused(finished, tmp_path, capsys, monkeypatch):
    html = tmp_path / "page.html"
    command = ["export", "--run", finished / "run", "--format", "html"]
    assert "a page must end in .html" in refused(capsys, *command, "--to", tmp_path / "page")
    assert call(*command, "--quantization", "int8", "--to", html) == 2
    assert "--quantization int8 goes with" in capsys.readouterr().err
    monkeypatch.setattr(browser_model, "MAX_PAGE_PARAMETERS", 1000)
    assert call(*command, "--to", html) == 2
    assert "a page holds at most 1,000; export a smaller run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("languages", "words", "expected"),
    [
        ((), [], {}),
        (("pt", "en"), ["((NAME))"], {"en": ""}),
        (("en", "de", "fr"), ["<2fr>", "<2de>"], {"de": "<2de>", "fr": "<2fr>"}),
        ((), ["<2de>", "<b>"], {"de": "<2de>"}),
    ],
)
def test_a_page_offers_the_targets_of_the_run(languages, words, expected):
    targets = html_file.targets(languages, words)
    assert {target["code"]: target["tag"] for target in targets} == expected


def test_the_rules_of_sentences_hold_the_abbreviations_of_the_program(tokenizer):
    rules = html_file.sentence_rules(tokenizer, "pt")
    assert {"Sr", "Sra", "Av", "Dr", "n.º"} <= {*rules["words"]}
    assert not {"carro", "novo", "casa"} & {*rules["words"]}


# ---- In a browser ----


class Page(BrowserPage):
    """Chromium, looking at a page that translates."""

    def __init__(self, driver, folder):
        super().__init__(driver)
        self.folder = folder

    def open(self, export):
        path = self.folder / "page.html"
        path.unlink(missing_ok=True)
        html_file.write(path, export)
        self.driver.get(path.as_uri())

    def wait(self, *states):
        """Waits until the page is in one of `states`."""
        self.wait_for("return [...arguments].includes(typing ? '' : progress.state)", *states)

    def translate(self, *lines):
        """Returns the translations of lines, which are pasted."""
        self.ask("setSource(arguments[0])", "\n".join(lines))
        self.wait("done", "empty")
        return self.ask("return translation()").split("\n")

    def press(self, key):
        """Presses a key with Ctrl."""
        keys = ActionChains(self.driver).key_down(Keys.CONTROL).send_keys(key)
        keys.key_up(Keys.CONTROL).perform()

    def at(self, name):
        return self.driver.find_element("id", name)

    def drop(self, name, content, *others):
        """Drops a file of bytes, and others of the same, and waits until the page has read it."""
        script = """
            const [names, bytes, done] = arguments, files = new DataTransfer(), read = openFile;
            openFile = async (...given) => { openFile = read; await read(...given); done(); };
            for (const name of names) files.items.add(new File([new Uint8Array(bytes)], name));
            const drop = new DragEvent("drop", { dataTransfer: files, bubbles: true });
            document.body.dispatchEvent(drop);
        """
        self.driver.execute_async_script(script, [name, *others], [*content])
        self.wait("done", "empty")

    def save(self):
        """Returns the name and the text of the file that the page saves."""
        script = """
            const [done] = arguments, { click } = HTMLAnchorElement.prototype;
            const url = URL.createObjectURL;
            let name;
            HTMLAnchorElement.prototype.click = function () { name = this.download; };
            URL.createObjectURL = (blob) => {
              blob.text().then((text) => done([name, text]));
              return url(blob);
            };
            save();
            Object.assign(URL, { createObjectURL: url });
            Object.assign(HTMLAnchorElement.prototype, { click });
        """
        return self.driver.execute_async_script(script)


@pytest.fixture(scope="module")
def run(finished):
    """The tokenizer and the Model of a trained run, whose languages are pt and en."""
    _, tokenizer, model = loading.load(finished / "run", languages=["pt", "en"])
    return tokenizer, model


@pytest.fixture
def browser(driver, run, tmp_path):
    """A Page in Chromium that holds the trained run."""
    page = Page(driver, tmp_path)
    tokenizer, model = run
    page.open(Export(model.transformer, tokenizer, card=CARD))
    return page


LINES = [source for source, _ in sentences(20, seed=7)] + [
    "O Sr. três. Quatro cinco.", "  um dois.   três!  ", "", "1234", "um. dois? Três... Quatro.",
    "😀 um", "um " * 60, "UM DOIS TRÊS.", "Um Dois Três Seis", "Quatro",
]  # fmt: skip


def test_the_page_translates_as_the_program(browser, run):
    tokenizer, model = run
    unprotected = Protecting(protect=False)
    translate = model.text_translator(tokenizer, SearchOptions(1), protecting=unprotected)
    expected = list(translate(LINES))
    expected[LINES.index("1234")] = "1234"  # digits alone stay
    assert browser.translate(*LINES) == expected
    assert len({*expected}) > 20
    assert browser.translate("", "um.") == ["", *translate(["um."])]
    assert browser.translate("") == [""]


def test_words_have_the_forms_that_the_program_gives_them(browser):
    trained = loading.load(ROOT / "data" / "trained")
    tokenizer, rules = trained.tokenizer, browser_model.word_rules(["pt", "en"])
    lines = (ROOT / "data" / "pt_en" / "test.tsv").read_text(encoding="utf-8").splitlines()[:60]
    sources = [spelling.trimmed(line.split("\t")[0]) for line in lines]
    texts = [form(text) for text in sources for form in (str, str.upper, str.lower, str.title)]
    texts += ["Gato", "Livro", "O gato está MUITO cansado.", "estacao", "3 cães", "日本語 ABC", ""]
    words = LearnedWords(tokenizer, "pt")
    readings = [words.read(text) for text in texts]
    expected = [
        [reading.text, reading.case, in_case(text, reading.case, "en")]
        for text, reading in zip(texts, readings, strict=True)
    ]
    script = """
        const [vocabulary, rules, texts] = arguments;
        const words = new LearnedWords(new Tokenizer(vocabulary), rules);
        return texts.map((text) => {
          const { text: read, wanted } = words.read(text);
          return [read, wanted, words.write(text, wanted)];
        });
    """
    assert browser.ask(script, browser_model.vocabulary(tokenizer), rules, texts) == expected
    assert len({reading.case for reading in readings}) == 4


TEXTS = [
    ("pt", "O Sr. Silva vive na Av. Paulista, n.º 12. E agora? Ele saiu... «Vens?», disse. Sim."),
    ("en", 'Mr. and Mrs. Brown live there. He said: "It works." Really? See Fig. 3 on p. 12. Go!'),
    ("de", "Herr Dr. Müller kam am 3. Oktober an. Er sagte: „Es geht.“ Die Fa. Huber usw. ist da."),
    (
        "fr",
        "M. Durand a dit : « Ça marche. » « Viens-tu ? » demanda-t-elle. Le prix est de 3,50 €.",
    ),
    ("hi", "डॉ. शर्मा आए। एम.ए. की पढ़ाई हुई।"),
    ("ja", "「行け。」と言った。彼は「行くな！」って叫んだ。今日は晴れ。"),
    ("zh", "“走吧！”他大声说道。然后走了。价格是3.5元！"),
]


def test_sentences_end_where_those_of_the_program_do(browser, run):
    for language, text in TEXTS:
        rules = html_file.sentence_rules(run[0], language)
        script = "return new Sentences(arguments[0]).split(arguments[1]).map(part => part.text)"
        expected = [sentence for sentence, _ in split(text, language)]
        assert browser.ask(script, rules, text) == expected
        assert len(expected) > 1


def test_text_is_translated_when_typing_stops_or_at_once(browser):
    (first, second) = browser.translate("um dois.", "três.")
    browser.ask("window.lines = []; const post = send; send = (m) => { lines.push(m); post(m); }")
    browser.at("source").send_keys(" quatro")
    assert browser.ask("return lines.length") == 0  # not at each key
    browser.wait("done")
    (message,) = browser.ask("return lines")
    assert message["lines"] == [dict(number=1, text="três. quatro", isWhole=False)]  # the new one
    texts = browser.ask("return translation()").split("\n")
    assert texts[0] == first
    assert texts[1] not in ("", second)
    browser.at("source").send_keys(".")
    browser.press(Keys.ENTER)
    assert browser.ask("return typing") == 0
    browser.at("clear").click()
    assert browser.ask("return [source.value, translation(), progress.state]") == ["", "", "empty"]


def test_a_long_text_is_stopped_and_continued(browser):
    lines = [source for source, _ in sentences(300, seed=3)]
    browser.ask("document.title = ''; setSource(arguments[0])", "\n".join(lines))
    browser.wait("working")
    browser.wait_for("return progress.done >= 2")
    browser.ask("stop()")
    count = "return rows.filter(row => row.isWhole).length"
    time.sleep(0.3)
    number = browser.ask(count)
    assert 2 <= number < len(lines)
    assert "Stopped after" in browser.at("status").text
    assert browser.at("stop").text == "Continue"
    time.sleep(0.3)
    assert browser.ask(count) == number
    browser.at("stop").click()
    browser.wait("done")
    assert browser.ask(count) == len(lines)
    assert browser.ask("return rows.every(row => row.text)")


def test_the_keyboard_stays_at_the_translation_when_it_continues(browser):
    lines = [source for source, _ in sentences(100, seed=5)]
    browser.ask("setSource(arguments[0])", "\n".join(lines))
    browser.wait("working")
    browser.ask("stop(); at('stop').focus()")
    browser.at("stop").send_keys(Keys.ENTER)
    browser.wait("done")
    assert browser.ask("return document.activeElement.id") == "translation"


def test_only_what_a_device_can_do_is_said(browser):
    assert "drop a .txt file" in browser.ask("return source.placeholder")
    assert "Ctrl+Enter" in browser.at("keys").text
    assert browser.at("keys").size["height"] > 10
    browser.resize(390)
    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        browser.driver.refresh()
        hint = browser.ask("return source.placeholder")
        height = browser.at("keys").size["height"]
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert hint.startswith("Type or paste text, or open a .txt file.")
    assert height <= 1


def test_a_file_is_dropped_and_its_translation_saved(browser):
    browser.wait("empty")
    lines = ["um dois.", "", "três."]
    expected = browser.translate(*lines)
    browser.at("clear").click()
    browser.drop("numeros.pt.txt", "\r\n".join(lines).encode("utf-8-sig"))
    assert browser.ask("return translation()").split("\n") == expected
    assert browser.save() == ["numeros.pt.en.txt", "\r\n".join(expected) + "\r\n"]
    (short,) = browser.translate("um dois.")
    for ending, saved in (("", "\n"), ("\n", "\n"), ("\n\n", "\n\n")):  # as many lines
        browser.drop("a.txt", f"um dois.{ending}".encode())
        assert browser.save() == ["a.en.txt", short + saved]
    browser.drop("old.txt", "três.".encode("cp1252"))
    assert browser.ask("return source.value") == "três."
    assert "windows-1252" in browser.at("notice").text
    browser.drop("report.docx", b"PK\3\4\0\0")
    assert "report.docx is not plain text" in browser.at("notice").text
    browser.drop("book.txt", b"a" * 1_000_001)
    assert "book.txt is too large" in browser.at("notice").text
    browser.drop("letter.rtf", rb"{\rtf1 um}")
    assert "letter.rtf is not plain text" in browser.at("notice").text
    browser.drop("wide.txt", "um dois".encode("utf-16le"))
    assert "Save it as .txt in UTF-8" in browser.at("notice").text
    browser.drop("line.txt", b"a" * 100_001)
    assert "line.txt has a line of more than 100,000" in browser.at("notice").text
    browser.drop("empty.txt", b"")
    assert browser.at("notice").text.startswith("empty.txt is empty.")
    assert browser.ask("return source.value") == "três."


def test_a_text_that_is_cleared_or_replaced_comes_back(browser):
    (expected,) = browser.translate("um dois.")
    browser.at("clear").click()
    assert browser.ask("return source.value") == ""
    browser.at("undo").click()
    browser.wait("done")
    assert browser.ask("return [source.value, translation()]") == ["um dois.", expected]
    assert not browser.at("notice").is_displayed()
    browser.drop("a.txt", "três.".encode(), "b.txt")
    notice = browser.at("said").text
    assert "Of 2 files, the first was taken: a.txt." in notice
    assert "a.txt has replaced your text" in notice
    browser.at("undo").click()
    browser.wait("done")
    assert browser.ask("return source.value") == "um dois."
    assert browser.save()[0] == "translation.en.txt"


@pytest.fixture
def few_tokens(monkeypatch):
    monkeypatch.setattr(html_file, "MAX_SOURCE_TOKENS", 50)


def test_a_notice_and_the_name_of_a_file_go_with_their_cause(few_tokens, browser):
    browser.drop("old.txt", "três.".encode("cp1252"))
    assert browser.at("notice").is_displayed()
    browser.at("source").send_keys(" um")
    assert not browser.at("notice").is_displayed()
    browser.wait("done")
    assert browser.save()[0] == "old.en.txt"  # still its text
    browser.press("a")
    ActionChains(browser.driver).send_keys("dois.").perform()
    browser.wait("done")
    assert browser.save()[0] == "translation.en.txt"
    browser.translate("um dois.", "um " * 60)
    assert "Very long sentences were cut off: 1" in browser.at("notice").text
    browser.at("source").send_keys(Keys.CONTROL + Keys.HOME)
    browser.at("source").send_keys("um ")
    browser.wait("done")
    assert browser.at("notice").is_displayed()  # the long one is still there
    browser.translate("um dois.")
    assert not browser.at("notice").is_displayed()


def test_a_notice_is_seen_where_the_reader_is(browser):
    browser.translate(*["um dois."] * 100)
    browser.ask("scrollTo(0, 1e6)")
    browser.drop("book.txt", b"a" * 1_000_001)
    box = browser.ask("const { top, bottom } = at('notice').getBoundingClientRect();"
                      "return [top, bottom, scrollY]")  # fmt: skip
    assert 0 <= box[0] < box[1] < 200 < box[2]
    browser.at("close").click()
    assert not browser.at("notice").is_displayed()


def test_a_phone_shows_the_translation_of_a_file(browser):
    browser.resize(390)
    browser.drop("a.txt", b"um dois.\n" * 60)
    browser.wait_for("return output.getBoundingClientRect().top <= innerHeight / 2")


def test_without_workers_the_page_itself_translates(browser):
    expected = browser.translate("um dois.", "três.")
    command = "Page.addScriptToEvaluateOnNewDocument"
    script = browser.driver.execute_cdp_cmd(command, {"source": "delete window.Worker"})
    browser.driver.refresh()
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    assert browser.ask("return typeof Worker") == "undefined"
    assert browser.translate("um dois.", "três.") == expected


def test_a_line_whose_digits_placeholders_or_addresses_differ_is_marked(browser):
    lost = ["{name}", "%s", "<b>", "https://a.pt/b", "ana@a.pt"]
    browser.translate("um dois.", "um 48213 dois.", "48213", *(f"um {part} dois." for part in lost))
    marked = browser.ask("return rows.map(row => row.element.className)")
    assert marked == ["", "doubtful", "", *["doubtful"] * len(lost)]
    for part in lost:
        script = "return fixedParts(arguments[0]) === fixedParts(arguments[1])"
        assert browser.ask(script, f"um {part} dois, 5% de.", f"one, 5% of two {part}.")
    assert browser.at("doubts").is_displayed()
    browser.translate("um dois.")
    assert not browser.at("doubts").is_displayed()


def test_the_language_to_translate_into_is_chosen(browser):
    pairs = as_dataset(sentences(200))
    tokenizer = run_demo.Tokenizer(run_demo.train_tokenizer(pairs, 320, symbols="<2de> <2fr>"))
    card = ModelCard("run", languages=("en", "de", "fr"))
    browser.open(random_export(tokenizer, card))
    browser.ask("window.tags = []; const post = send; send = (m) => { tags.push(m.tag); post(m); }")
    german = browser.translate("um dois três.")
    assert browser.texts("#target option") == ["German", "French"]
    browser.ask("const box = document.getElementById('target'); box.selectedIndex = 1;"
                "box.dispatchEvent(new Event('change'))")  # fmt: skip
    browser.wait("done")
    assert browser.ask("return tags") == ["<2de>", "<2fr>"]
    assert browser.ask("return output.lang") == "fr"
    assert browser.ask("return translation()").split("\n") != german
    french = browser.ask("return translation()")
    browser.driver.get("about:blank")
    browser.driver.back()
    browser.wait("done")
    assert browser.ask("return [target().code, output.lang, translation()]") == ["fr", "fr", french]


def test_a_page_with_a_shorter_text_is_shorter_at_once(browser):
    browser.wait("empty")
    height = "return document.documentElement.scrollHeight"
    for width in (390, 1280):
        browser.resize(width, 900)
        browser.ask("fit()")
        empty = browser.ask(height)
        browser.translate("um dois.")
        short = browser.ask(height)
        browser.translate(*["um dois."] * 60)
        assert browser.ask(height) > 2 * short
        browser.translate("um dois.")
        assert abs(browser.ask(height) - short) < 2
        browser.translate(*["um dois."] * 60)
        browser.at("clear").click()
        assert browser.ask(height) <= empty + 100  # a notice


def test_text_that_the_browser_restores_is_translated(browser):
    expected = browser.translate("um dois.", "três.")
    browser.driver.get("about:blank")
    browser.driver.back()
    browser.wait("done")
    assert browser.ask("return source.value") == "um dois.\ntrês."
    assert browser.ask("return translation()").split("\n") == expected
    browser.driver.refresh()
    browser.wait("done", "empty")
    time.sleep(0.2)
    texts = browser.ask("return [source.value, translation()]")
    assert texts in (["", ""], ["um dois.\ntrês.", "\n".join(expected)])


def test_a_selected_translation_is_copied_with_its_blank_lines(browser):
    expected = browser.translate("um dois.", "", "", "três.", "", "quatro.")
    browser.ask("output.focus(); getSelection().selectAllChildren(output)")
    browser.press("c")
    browser.ask("source.value = ''; source.focus()")
    browser.press("v")
    assert browser.ask("return source.value").split("\n") == expected


# ---- What is seen ----


def test_the_page_fits_phones_and_screens_in_both_languages(browser):
    browser.translate(MARKUP, "um" * 300, "um " * 100)
    for width in (390, 1280):
        browser.resize(width)
        for title in ("葡萄牙语 → 英语", "Portuguese → English"):
            browser.at("language").click()
            assert browser.ask("return [document.title, title.textContent]") == [title, title]
            assert browser.ask("return document.documentElement.scrollWidth") <= width
            assert browser.ask("return source.scrollHeight <= source.clientHeight")
        assert browser.at("translate").is_displayed() == (width == 390)
    for width in (320, 195):
        browser.resize(width)
        browser.ask("note('too-large', { name: 'a'.repeat(80) })")
        assert browser.ask("return document.documentElement.scrollWidth") <= width
        cut = (
            "return [...document.querySelectorAll('h1, h2, button')]"
            ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML)"
        )
        assert browser.ask(cut) == []
    assert browser.texts("main b, main img") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_of_the_page_is_readable_in_light_and_dark(browser, scheme):
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    browser.translate("um 7 dois.")
    browser.ask("note('too-large', { name: 'a.txt' }); rows[0].element.className = 'former'")
    assert len(check_contrasts(browser.driver, scheme)) > 10


def test_each_control_has_a_name_and_is_reached_by_keyboard(browser):
    browser.translate("um dois.")
    for _ in range(2):  # languages
        nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        names = [
            node["name"]["value"] for node in nodes
            if not node["ignored"] and node["role"]["value"] in ("button", "textbox", "group")
        ]  # fmt: skip
        assert len(names) >= 7
        assert all(name.strip() for name in names)
        browser.at("language").click()
    browser.ask("scrollTo(0, 0); document.activeElement.blur()")
    stops = []
    for _ in range(16):  # from anywhere, all around
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        stops.append(browser.ask("return document.activeElement.id"))
    controls = ["language", "clear", "open", "source", "copy", "save", "translation"]
    assert {*controls} <= {*stops}, stops
