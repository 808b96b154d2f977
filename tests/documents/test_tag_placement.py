"""What must hold of tags: they stand around the translations of the words that they enclosed."""

import pytest
from helpers import Translated, backwards, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.documents import html_pages, translate_document


def translate_html(page, translate=upper):
    return translate_document("page.html", page.encode(), translate).decode()


def linked(text, links):
    """Returns a translator of one sentence, with links as "0-1 1-0"."""
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    return lambda texts: [Translated(text, pairs)]


@pytest.mark.parametrize(
    ("source", "text", "links", "translation"),
    [
        ("um <b>gato</b> preto.", "a black cat.", "0-0 1-2 2-1", "a black <b>cat</b>."),
        ("um <b>gato preto</b>.", "a black cat.", "0-0 1-2 2-1", "a <b>black cat</b>."),
        ("<i>um</i> <b>gato</b>", "cat one", "0-1 1-0", "<b>cat</b> <i>one</i>"),
        ("<b>um <i>gato</i> preto</b>.", "a black cat.", "0-0 1-2 2-1",
         "<b>a black <i>cat</i></b>."),
        ("um <b>gato</b>, dois", "a cat, two", "0-0 1-1 2-2", "a <b>cat</b>, two"),
        ('disse "<b>sim</b>".', 'he said "yes".', "0-0 0-1 1-2", 'he said "<b>yes</b>".'),
        # A network links articles to nouns and adjectives, too.
        ("um <b>gato preto</b>.", "a black cat.", "0-0 2-0 1-2 2-1", "a <b>black cat</b>."),
        ("do <b>mundo</b>", "in the world", "0-1 1-0 1-2", "in the <b>world</b>"),
        # A wrong link of one word does not tear the element apart.
        ("<b>o gato preto</b> dorme", "the black cat sleeps", "0-0 1-2 2-1 3-3 0-3",
         "<b>the black cat</b> sleeps"),
        # Nothing is linked to the element: it keeps a word at its relative position.
        ("um <b>dois</b> três", "one two three", "0-0 0-1 2-2", "one <b>two</b> three"),
        ("veja <img src=x> aqui", "see here", "0-0 1-1", "see <img src=x> here"),
        ("nota<img src=x> aqui", "here note", "0-1 1-0", "here note<img src=x>"),
        ("H<sub>2</sub>O corre", "runs H2O", "0-1 1-0", "runs H<sub>2</sub>O"),
        ("use <code>ls -l</code> aqui", "use here", "0-0 1-1", "use <code>ls -l</code> here"),
        # What the translation holds as it is takes its tags along, whatever the links.
        ("um <a>https://a.pt</a> e <a href=x>a@b.pt</a> dois", "one https://a.pt and a@b.pt two",
         "0-1 1-0 2-3 3-4 4-2", "one <a>https://a.pt</a> and <a href=x>a@b.pt</a> two"),
        ("ti<sup><a>[2]</a></sup> (<i>1</i>).", "my aunt[2] 21 (1).", "0-2 0-3 1-0",
         "my aunt<sup><a>[2]</a></sup> 21 (<i>1</i>)."),
        ("um<b>.</b> Dois três", "One. Two three.", "0-0 1-1 2-2", "One<b>.</b> Two three."),
        ("<span translate=no>Rio Tua</span> corre", "Tua flows", "0-0 1-0 2-1",
         "<span translate=no>Rio Tua</span> flows"),
    ],
)  # fmt: skip
def test_tags_stand_around_the_words_that_are_linked(source, text, links, translation):
    assert translate_html(source, linked(text, links)) == translation


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("我喜欢<b>红色</b>房子", "I like <b>red</b> houses"),
        ("um <b>dois</b> três quatro", "one <b>two</b> three four"),
    ],
)
def test_without_links_tags_keep_their_relative_positions(source, translation):
    words = translation.replace("<b>", "").replace("</b>", "")
    assert translate_html(source, lambda texts: [Translated(words, None)]) == translation


def test_chinese_that_is_one_word_by_spaces_has_tags_around_a_part_of_it():
    translate = linked("我喜欢红色房子", "0-0 1-0 2-0 3-0")
    assert translate_html("I like <b>red</b> houses", translate) == "我喜欢红<b>色</b>房子"


@pytest.mark.parametrize(
    "page",
    [
        "um <img><img> dois",
        "um <!--a--><!--b--> dois",
        "<p title=\"'um'\">um</p>",
    ],
)
def test_nothing_is_added_between_tags_or_quotes(page):
    translated = translate_html(page)
    assert translated.replace("&#x27;", "'").lower() == page.lower()
    assert "UM" in translated


def test_tags_are_nested_by_at_most_a_hundred():
    assert translate_html("<b>" * 50 + "x" + "</b>" * 50) == "<b>" * 50 + "X" + "</b>" * 50
    deep = "a " + "<b>b " * 5000 + "</b>" * 5000
    with pytest.raises(UserError, match="more than 100 deep"):
        translate_html(deep)


WORDS = "<b> </b> <i> </i> <p> </p> <br> <code> </code> <img> <a/> &amp; & < > um dois, . ( ) 3"
WORDS += " <!-- --> <!x> <?p?> <li> </li> <script> </script> &#x41; é 我 <![CDATA[ ]]>"
PIECES = st.sampled_from([*WORDS.split(), '<a title="não">', " ", "\n", "\xa0", "\x1c", "\r\n"])


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_the_html_its_tags_stay_and_identity_changes_nothing(page):
    try:
        assert translate_html(page, identity) == page
        for translate in (upper, backwards):
            translated = translate_html(page, translate)
            tags = html_pages.PageTokens(page.replace("não", "NÃO")).tokens
            assert sorted(t.name for t in html_pages.PageTokens(translated).tokens if t.name) == (
                sorted(t.name for t in tags if t.name)
            )
    except UserError:
        pass
