"""What must hold of placeholders: each syntax is known, and prose has none."""

import pytest

from nmt.text.placeholders import ANY_TEXT, find_placeholders, message_expressions

ANYWHERE = [
    *"%s %1$s %-10.2f %5.2f %lu %*d %'d %I64d %hhd %(name)s %<count>d %<PRIu64> %PRIu64 %@".split(),
    *"{} {0} {name} {name!r:>10} {:{width}} {{x}} {count,number} ${name} #{name} %{name}".split(),
    *"$t(key) $name $NAME$ $(name) %1 %L1 %name% @:a.b {0,date,short}".split(),
    *["{{ x }}", "<%= name %>", "{% if %}", "<?= $name ?>", "{count, number}"],
]
IN_MESSAGES = ":name !name @name [name] [your-name] $Name %n %a %% %name %L12"
OF_FORMATS = {  # placeholders with two spaces between them
    "c": "% d  %a  %m  %n  %%  %1$*2$d  %-+5.3Lf  %<PRIdMAX>  %5$s",
    "objc": "%@  %1$@  %lld",
    "python": "%(a b)s  %(n)5.2f  %r  %%  % d",
    "python-brace": "{a b}  {n: >10}  {0.name[x]}",
    "java": "{0}  { 1 }  {0,choice,0#no files|1#one file|1<{0} files}",
    "java-printf": "%tY  %,d  %<s  %n  %%  %1$tm",
    "csharp": "{0}  {0,-10:N2}  {1:yyyy-MM-dd HH:mm}",
    "rust": "{}  {0:?}  {name:>8}",
    "javascript": "%s  %1$d  %%  $t(key)  @name  $name  {{x}}",
    "ruby": "%{name}  %<count>.2f  #{name}  %s  %%",
    "sh": "$name  ${name}  $NAME_2",
    "perl-brace": "{name}",
    "perl": "%vd  %2$s  %%",
    "php": "%'*10s  %1$s  %05d  %b  :name  !name  @name",
    "lua": "%q  %5.1f  %%",
    "go": "%v  %+v  %[1]d  %T  %q",
    "object-pascal": "%d  %0:s  %*.*f  %-10s",
    "lisp": "~a  ~5,2F  ~%  ~:@r",
    "qt": "%1  %10  %L1  %n  %Ln",
    "kde": "%1  %20  %%",
    "boost": "%1%  %|2$s|  %d",
    "gcc-internal": "%qE  %q+D  %<  %>",
    "tcl": "%1$s  %-5d",
    "awk": "%5.2f  %c",
}
PROSE = [
    "100% de desconto, 50 % d'entre eux, a taxa é de 5% em 2024 e 10%",
    "%50 indirim, %5,5 faiz",  # Turkish
    "Custa 5 $US ou R$5 ou US$ 7, $5 no total",
    "Veja a nota: isto (é) [sic?] {um texto} e 3:45, 10:30",
    "Fim! Que bom!Sim. a<b e c>d; a_b #1 @ 5",
]


def texts(text, expressions):
    return [placeholder.text for placeholder in find_placeholders(text, expressions)]


@pytest.mark.parametrize("placeholder", ANYWHERE)
def test_a_placeholder_of_any_text_is_found_whole(placeholder):
    for text in (f"O gato {placeholder} dorme", f"{placeholder}, o gato", f"É «{placeholder}»."):
        assert texts(text, [ANY_TEXT]) == texts(text, message_expressions()) == [placeholder]


@pytest.mark.parametrize("placeholder", IN_MESSAGES.split())
def test_a_placeholder_of_messages_is_found_in_messages_alone(placeholder):
    text = f"O gato {placeholder} dorme."
    assert texts(text, [ANY_TEXT]) == []
    assert texts(text, message_expressions(["fuzzy"])) == [placeholder]


@pytest.mark.parametrize("name", OF_FORMATS)
def test_a_format_that_the_flags_name_has_its_placeholders(name):
    """Each is found whole, whatever follows it."""
    placeholders = OF_FORMATS[name].split("  ")
    expressions = message_expressions([f"{name}-format", "fuzzy"])
    for placeholder in [*placeholders, "{name}", "%(x)s"]:
        assert texts(f"O gato {placeholder} dorme.", expressions) == [placeholder], name


@pytest.mark.parametrize("text", PROSE)
def test_prose_has_no_placeholder(text):
    assert texts(text, [ANY_TEXT]) == []


def test_a_format_that_is_denied_is_not_looked_for():
    assert texts("Um %s e %d", message_expressions(["no-c-format"])) == []
    assert texts("{x}", message_expressions(["no-c-format"])) == ["{x}"]


def test_a_space_within_a_conversion_counts_in_its_format_alone():
    assert texts("50% dos", message_expressions()) == []
    assert texts("50% dos", message_expressions(["c-format"])) == ["% d"]


def test_a_literal_percent_sign_hides_what_follows_it():
    assert texts("100%%s de", message_expressions(["c-format"])) == ["%%"]
