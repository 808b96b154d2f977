"""What must hold of tables: the cells of the columns that are named are translated."""

import csv
import io

import pytest
from helpers import Translated, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.documents import parse_document, tables, translate_document
from nmt.documents.document import FormatOptions

TABLE = (
    'id,text,"nota, extra"\r\n1, um gato ,não\r\n2,"um ""gato"", preto\ndois",não\r\n3,,\r\n4,42'
)


def translate(table, columns, translator=upper, name="a.csv"):
    return translate_document(name, table.encode(), translator, columns=columns).decode()


def read(table, delimiter=","):
    return list(csv.reader(io.StringIO(table, newline=""), delimiter=delimiter))


def test_the_columns_that_are_named_are_translated_below_the_header():
    expected = TABLE.replace("um", "UM").replace("gato", "GATO").replace("preto", "PRETO")
    expected = expected.replace("dois", "DOIS")
    assert translate(TABLE, "text") == expected
    assert translate(TABLE, "text", identity) == TABLE
    both = translate(TABLE, "text, id")
    assert both == expected
    rows = read(translate(TABLE, "2"))
    assert rows[0] == ["id", "TEXT", "nota, extra"]  # by numbers, the first line is a line
    assert rows[2] == ["2", 'UM "GATO", PRETO\nDOIS', "não"]


@pytest.mark.parametrize(
    ("name", "table", "translated"),
    [
        ("a.csv", "a;b\num;dois\n", "a;b\nUM;dois\n"),
        ("a.csv", "a|b\num|dois\n", "a|b\nUM|dois\n"),
        ("a.csv", "sep=;\na;b\num, dois;três\n", "sep=;\na;b\nUM, DOIS;três\n"),
        ("a.csv", "a;b, c, d\num;dois\n", "a;b, c, d\nUM;dois\n"),
        ("a.tsv", 'a\tb\n"um\tdois"\n', 'a\tb\n"UM\tdois"\n'),
        ("a.tsv", "a\tb\n\num, dois\ttrês", "a\tb\n\nUM, DOIS\ttrês"),
        ("a.csv", 'a,b\n"um" dois,três\n', 'a,b\n"""UM"" DOIS",três\n'),
        ("a.csv", "a,b\r um\r\n", "a,b\r UM\r\n"),
    ],
)
def test_delimiters_quotes_and_line_ends_are_those_of_the_table(name, table, translated):
    assert translate(table, "a", name=name) == translated


def test_quotes_that_a_translation_needs_stand_around_the_whole_cell_with_its_spaces():
    translated = translate("x, um dois \n", "2", lambda texts: [Translated('y, "z"', None)])
    assert translated == 'x," y, ""z"" "\n'
    assert read(translated) == [["x", ' y, "z" ']]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (None, "a.csv: name what to translate: --columns with one or more of: id, text, nota"),
        ("texto", "a.csv: --columns texto: no such column; there are: id, text, nota, extra"),
        ("4", "a.csv: --columns 4: no such column"),
        ("0", "a.csv: --columns 0: no such column"),
    ],
)
def test_columns_that_do_not_exist_are_named(columns, said):
    with pytest.raises(UserError) as error:
        translate(TABLE, columns)
    assert said in str(error.value)


@pytest.mark.parametrize("cell", ['"um', '"""um', '"um""'])
def test_a_quoted_cell_without_an_end_is_named(cell):
    with pytest.raises(UserError, match=r"a.csv: line 2: a quoted cell does not end"):
        translate(f"a,b\n{cell},dois\n", "a")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*'",;\t|\r\n', "\r\n", '""', "um", " ", "é"])).map("".join))
def test_whatever_the_table_identity_changes_nothing(table):
    for name in ("a.csv", "a.tsv"):
        try:
            assert translate(table, "1", identity, name) == table
            if name == "a.csv":
                delimiter = tables.find_delimiter(table, ".csv")
                lengths = [
                    [len(row) for row in read(text, delimiter)]
                    for text in (table, translate(table, "1"))
                ]
                assert lengths[0] == lengths[1]
        except UserError:
            pass


def test_formulas_stay_and_are_counted():
    cells = ["=SUM(A1:A2)", "=A1", "+B2", "-SUM(A1)", "@AVERAGE(C1)", '"=IF(A1;""um"";2)"']
    texts = ["- um", "+ dois", "= ", "@ana olá", "-um"]
    table = "\n".join(["x", *cells, *texts]) + "\n"
    translated = translate_document("a.csv", table.encode(), upper, columns="x").decode()
    assert translated.splitlines() == ["x", *cells, *[text.upper() for text in texts]]
    document = parse_document("a.csv", table.encode(), FormatOptions("x"))
    assert [(left.reason, left.is_expected) for left in document.left] == [("formulas", True)] * 6
