"""What must hold of the page, in Chromium: what a visitor types, sees, clicks and drops."""

import urllib.request

import pytest
from helpers import BrowserPage

from nmt.corpus.formats import tmx
from nmt.corpus.formats.format import Selection
from nmt.text.languages import Pair

TEXT = "um dois três."
MARKUP = "<img src=x onerror=alert(1)> & <b>um</b> \u202e"


class Page(BrowserPage):
    """The page in a browser.

    Args:
      driver: of Chromium.
      address: of the server.
    """

    def __init__(self, driver, address):
        super().__init__(driver)
        driver.get(address)
        self.wait_for("return document.title")

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    @property
    def translation(self):
        return self.texts("#translation")[0]

    def write(self, selector, text):
        """Replaces the text of a field, as typing does."""
        self.ask(
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            self.find(selector),
            text,
        )

    def has_focus(self, selector):
        return self.ask("return document.activeElement.matches(arguments[0])", selector)

    def translate(self, text):
        """Puts a text in, and waits until it is translated."""
        self.wait_for("return runs.length")
        self.ask("showStatus(''); setSource(arguments[0])", text)
        self.wait_until_translated()

    def wait_until_translated(self):
        """Waits for the number of tokens, which is shown in the end."""
        self.wait_for("return /token|词元/.test(document.getElementById('status').textContent)")


@pytest.fixture
def page(chromium, server):
    yield Page(chromium, server.address)
    assert chromium.get_log("browser") == []  # no error, nothing fetched from elsewhere


def test_what_is_typed_is_translated_as_it_is_generated(page, server):
    page.ask(  # of the last request alone: each begins with an empty output
        "window.seen = []; new MutationObserver(() => output.childElementCount"
        " ? seen.push(document.querySelector('.partial')?.textContent) : seen.length = 0)"
        ".observe(output, {childList: true})"
    )
    translation = server.ask("/translate", {"q": TEXT, "target": "en"})["translatedText"]
    page.find("#source").send_keys(TEXT)
    page.wait_for("return output.textContent === arguments[0]", translation)
    page.wait_until_translated()
    asked = {"text": TEXT, "target": "en", "n_best": 4}
    _, *others = server.ask("/n-best", asked)["translations"]
    seen = [text for text in page.ask("return seen") if text]
    assert len(set(seen)) > 1
    assert all(page.translation.startswith(text) for text in seen)
    page.wait_for("return document.querySelector('#others:not([hidden]) li')")
    assert page.texts("#others li span[dir]") == [other["text"] for other in others]


def test_another_token_continues_from_there(page):
    page.translate(TEXT)
    before = page.translation
    page.find("#translation .token:nth-of-type(2)").click()
    choices = page.texts("#choices button span[dir]")
    assert len(choices) >= 4
    first = page.texts("#translation .token")[0]
    page.find("#choices button:nth-of-type(2)").click()
    page.wait_for("return document.querySelector('.chosen')")
    page.wait_until_translated()
    tokens = page.texts("#translation .token")
    assert tokens[0] == first
    assert tokens[1].strip() == choices[1].strip("·␣ ")
    assert page.translation != before
    page.find("#release").click()
    page.wait_for("return !document.querySelector('.chosen')")
    page.wait_until_translated()
    assert page.translation == before


def test_words_are_linked_to_their_source(page):
    from selenium.webdriver import ActionChains

    page.translate(TEXT)
    ActionChains(page.driver).move_to_element(page.find("#translation .token")).perform()
    words = page.wait_for(
        "return [...document.querySelectorAll('#mirror mark')].map(one => one.textContent)"
    )
    assert set("".join(words)) <= set(TEXT)
    page.ask("source.focus(); source.setSelectionRange(1, 1)")
    page.wait_for("return document.querySelector('#translation .linked')")


@pytest.mark.parametrize("width", [390, 1280])
def test_any_text_stays_text_at_any_width_in_both_languages(page, width):
    page.resize(width)
    page.translate(MARKUP + "um" * 100)
    for language, title in (("en", "Translator"), ("zh", "翻译")):
        assert page.ask("return [document.documentElement.lang, document.title]") == [
            language,
            title,
        ]
        assert page.ask("return document.documentElement.scrollWidth") <= width
        assert page.ask("return document.querySelectorAll('img, b').length") == 0
        assert "" not in page.texts("[data-text]")
        page.find("#language").click()


def test_warnings_are_shown_in_both_languages(page):
    page.translate("um 4711 dois")
    page.ask("showWarnings([{kind: 'missing', message: 'x', items: ['4711', '<b>']},"
             "{kind: 'left', message: 'x', items: ['2', 'old', 'line 3']},"
             "{kind: 'unchanged', message: 'x', items: ['en']},"
             "{kind: 'newer than the page', message: 'as sent', items: []}])")  # fmt: skip
    assert page.texts("#warnings:not([hidden]) li") == [
        "The translation lacks 4711, <b> of the text.",
        "Left as it is: 2 old (first: line 3).",
        "The text is in English already, and stays as it is.",
        "as sent",
    ]
    page.find("#language").click()
    first, *_ = page.texts("#warnings li")
    assert first == "译文缺少原文中的 4711、<b>。"
    page.find("#language").click()
    page.translate(TEXT)
    page.wait_for("return document.querySelector('#warnings').hidden")


def test_text_in_the_target_language_is_shown_as_it_is(page):
    page.translate(TEXT)
    page.ask("begun(); state.sentences.push({text: 'one', tokens: [], source: [], attention: [],"
             "space: ''}); show(''); finish()")  # fmt: skip
    assert page.translation == "one"
    assert page.ask("return document.getElementById('copy').hidden") is False


def test_a_file_that_is_dropped_comes_back_translated(page, server):
    page.wait_for("return runs.length")
    content = "1\n00:00:01,000 --> 00:00:02,000\num dois\n"
    page.ask(
        "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'a.srt'));"
        "document.getElementById('from').dispatchEvent(new DragEvent("
        "'drop', {dataTransfer: data}))",
        content,
    )
    link = page.wait_for("return document.querySelector('#translation a')?.href")
    assert link.endswith("/a.en.srt")
    with urllib.request.urlopen(link) as answer:
        translated = answer.read().decode()
    assert translated.startswith(content[: content.index("um")])
    translation = server.ask("/translate", {"q": "um dois", "target": "en"})["translatedText"]
    assert translation in translated


# ---- Corrections ----

FIRST, SECOND = "#drafts label:first-child textarea", "#drafts label:last-child textarea"
STATE = "return document.getElementById('correction-state').textContent.includes(arguments[0])"


@pytest.fixture
def correcting(chromium, suggesting):
    """The page of a server that stores suggestions."""
    page = Page(chromium, suggesting.address)
    yield page
    chromium.get("about:blank")  # before the server ends, which requests would fail by
    messages = [entry["message"] for entry in chromium.get_log("browser")]
    assert [message for message in messages if "/suggest" not in message] == []


def stored(folder):
    path = folder / "corrections.tmx"
    return [tuple(row.cells) for row in tmx.rows(path, Selection(Pair("pt", "en")), None)]


def test_a_correction_is_stored_with_the_sentence_that_was_translated(correcting, tmp_path):
    page = correcting
    page.translate("um dois.\ntrês quatro.")
    first, second = page.ask("return state.sentences.map((sentence) => sentence.text)")
    page.find("#edit").click()
    assert page.has_focus(FIRST)
    assert page.texts("#drafts label span") == ["um dois.", "três quatro."]
    assert not page.find("#save").is_enabled()
    page.write(SECOND, " ")
    assert not page.find("#save").is_enabled()
    page.write(SECOND, "three <b>&\nfour.")
    page.find("#save").click()
    page.wait_for(STATE, "Corrections saved: 1.")
    assert stored(tmp_path) == [("três quatro.", "three <b>& four.")]
    content = (tmp_path / "corrections.tmx").read_text()
    assert f'<prop type="x-previous">{second}</prop>' in content
    assert page.translation == f"{first}\nthree <b>&\nfour."
    assert page.has_focus("#edit")
    page.find("#language").click()  # which draws the translation anew
    assert page.translation == f"{first}\nthree <b>&\nfour."


def test_a_correction_stays_while_the_next_text_is_typed(correcting, tmp_path):
    page = correcting
    page.translate("um dois.")
    page.find("#edit").click()
    page.write(FIRST, "one two!")
    page.translate("três.")
    assert page.texts("#drafts label span") == ["um dois."]
    assert not page.find("#edit").is_displayed()
    page.find("#save").click()
    page.wait_for(STATE, "Corrections saved: 1.")
    assert stored(tmp_path) == [("um dois.", "one two!")]
    assert page.translation == page.ask("return state.sentences[0].text") != "one two!"
    assert page.find("#edit").is_displayed()
    page.find("#edit").click()
    page.translate("quatro.")  # nothing is lost with a correction that has not begun
    assert not page.find("#correction").is_displayed()


def test_what_is_not_saved_is_given_up_only_after_a_question(correcting):
    page = correcting
    page.translate(TEXT)
    page.find("#edit").send_keys("\n")
    page.find(FIRST).send_keys("\ue00c")  # Escape
    assert not page.find("#correction").is_displayed()
    assert page.has_focus("#edit")
    page.find("#edit").send_keys("\n")
    page.write(FIRST, "نص")
    assert page.ask("return getComputedStyle(arguments[0]).direction", page.find(FIRST)) == "rtl"
    page.find(FIRST).send_keys("\ue00c")
    page.driver.switch_to.alert.dismiss()
    assert page.find(FIRST).get_attribute("value") == "نص"
    page.find("#cancel").click()
    page.driver.switch_to.alert.accept()
    assert not page.find("#correction").is_displayed()


def test_a_correction_that_is_refused_stays_in_its_field(correcting, suggesting, tmp_path):
    page = correcting
    page.translate("um dois.\ntrês quatro.")
    page.find("#edit").click()
    page.write(FIRST, "one two!")
    page.write(SECOND, "x" * 5001)
    page.find("#save").click()
    page.wait_for(STATE, "Corrections saved: 1. Not saved, and still in the field: 5001 characters")
    assert stored(tmp_path) == [("um dois.", "one two!")]
    assert page.has_focus(SECOND)
    suggesting.process.kill()
    suggesting.process.wait()
    page.write(SECOND, "three four!")
    page.find("#save").click()
    page.wait_for(STATE, "Not saved, and still in the field: The server does not answer")
    assert page.find(SECOND).get_attribute("value") == "three four!"
    page.find("#cancel").click()
    page.driver.switch_to.alert.accept()


def test_a_server_that_stores_no_corrections_is_offered_none(page):
    page.translate(TEXT)
    assert not page.find("#edit").is_displayed()
    page.ask("settings.suggestions = true; showFinished()")  # as if it had stored them before
    page.find("#edit").click()
    page.write(FIRST, "one!")
    page.find("#save").click()
    page.wait_for(
        STATE, "Not saved, and still in the field: suggestions are disabled on this server"
    )
    page.find("#cancel").click()
    page.driver.switch_to.alert.accept()
    (entry,) = page.driver.get_log("browser")
    assert "/suggest" in entry["message"]
