"""Placeholders, which a translation must hold as they are: %s, {name}, $name.

Every expression takes linear time: parts that repeat are bounded, or give nothing back (`*+`).
"""

from __future__ import annotations

LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f_"  # no "%s" before one
WIDTH = r"(?:\*(?:\d{1,3}\$)?|[1-9]\d*+)?"
PRECISION = r"(?:\.(?:\*(?:\d{1,3}\$)?|\d*+))?"
LENGTH = "(?:hh|h|ll|l|I64|I32|[LqjztZ])?"
DIRECTIVE = rf"%[-_0^#EO]?[A-Za-z](?![{LETTER}])"  # of a date
INTEGER_MACRO = r"PRI[diouxX](?:(?:LEAST|FAST)?(?:8|16|32|64)|MAX|PTR)"  # of C's inttypes.h

NAMES = (  # that often stand for a value, as in ":name"
    "attribute|count|date|email|format|hours|id|max|min|minutes|name|number|other|seconds|size|time"
    "|title|total|url|user|value|values"
)
BRACES = r"\{[^{}]{0,200}+\}"


def nested(braces: str) -> str:
    """Returns the expression of braces that may hold others."""
    return rf"\{{(?>(?:[^{{}}]{{1,200}}+|{braces}){{0,20}})\}}"


SYNTAXES = (
    # {{ name }}, {% if %}, {# note #}, <%= name %>, <# if #>, <?= $name ?>
    r"\{\{\{?+[^{}\n]{0,80}+\}\}\}?+",
    r"\{%[^%\n]{0,120}+%\}",
    r"\{#[^{}#\n]{0,120}+#\}",
    r"<%[^%\n]{0,120}+%>",
    r"<#[^#\n]{0,120}+#>",
    r"<\?[^?\n]{0,120}+\?>",
    # ${name}, #{name}, %{name}, $(name), $t(key), $name, $NAME$, @:key
    r"[$#%]\{[^{}\n]{1,80}+\}",
    r"\$t\([^()\n]{0,120}+\)",
    r"\$\([\w.-]{1,80}+\)",
    r"(?<![\w$])\$[A-Za-z_]\w{0,80}+\$(?!\w)",
    r"(?<![\w$])\$(?:[a-z_]\w*+|[A-Z][A-Z0-9_]{3,}+)",  # not "5 $US"
    r"(?<![\w@])@(?:\.\w{1,20}+)?:[A-Za-z_][\w-]*+(?>(?:\.[\w-]++)*)",  # vue-i18n
    # [[name]], __NAME__, :name
    r"\[\[ ?[\w.-]{1,80}+ ?\]\]",
    r"(?<!\w)__[A-Z][A-Z0-9_]{0,80}?__(?!\w)",
    rf"(?<!\S):(?:{NAMES}|[a-z]{{1,40}}+_[a-z0-9_]{{1,40}}+)(?![\w:])",
    # {count, plural, one {# cat} other {# cats}}, as a whole
    r"\{\s{0,8}+\w{1,80}+\s{0,8}+,\s{0,8}+(?:plural|select|selectordinal)\s{0,8}+,"
    rf"(?>(?:[^{{}}]{{1,200}}+|{nested(nested(nested(BRACES)))}){{0,40}})\}}",
    # {count, number}, {0, date, short}: of ICU's and Java's MessageFormat
    r"\{\s{0,8}+\w{1,80}+\s{0,8}+,\s{0,8}+(?:number|date|time|spellout|ordinal|duration|list)"
    r"\s{0,8}+(?:,[^{}\n]{0,80}+)?\}",
    # {}, {0}, {name!r:>10}, {:{width}}
    r"\{[^{}\s]{0,80}+(?>(?:\{[^{}\s]{0,80}+\}[^{}\s]{0,80}+){0,3})\}",
    r"\{[ \t]{1,3}+[\w.]{1,80}+[ \t]{1,3}+\}",  # { name }
    # %d/%m/%Y, %-d de %B de %Y: a date as a whole, since its parts are one; %Y alone
    rf"(?<![\d%])(?=[^\n]{{0,40}}%[-_0]?[ABHIMSYbmy])"
    rf"{DIRECTIVE}(?:(?: ?[-/.:,] ?| | [^\W\d_]{{1,3}} ){DIRECTIVE}){{1,8}}",
    # %s, %1$s, %-10.2f, %*d, %'d, %I64d, %(name)s, %<count>d, %<PRIu64>
    rf"(?<!\d)%(?:\d{{1,3}}\$)?(?:\(\w{{1,80}}+\))?[-+#0']*+{WIDTH}{PRECISION}{LENGTH}"
    rf"[diouxXeEfFgGcsp@](?![{LETTER}])",
    rf"%[-+#0']*+{WIDTH}(?:<{INTEGER_MACRO}>|{INTEGER_MACRO}(?!\w))",
    r"%<\w{1,80}+>[-+ #0]*+\d*+(?:\.\d++)?[A-Za-z]",
    r"(?<![\d%])%[A-Za-z_]\w++%(?![\w%*])",  # %name%; not %d%%, %s%s
    r"(?<![\w%])%L?[1-9](?![\w%]|[.,:]\d)",  # %1, %L1, of Qt and KDE; not "%50", Turkish for 50%
    rf"(?<![\d%]){DIRECTIVE}",
)
PLACEHOLDER = "|".join(SYNTAXES)
