"""Placeholders of programs' messages, which a translation must hold as they are: %s, {name}, $name.

Each syntax is an expression with a scope. "{name}" and "%s" are placeholders in any text, ":name"
and "[name]" only in messages of programs, and "% d", which prose has after a number, only where a
message says that it is a C format. gettext's flags name the formats: `#, c-format`.

Every expression takes linear time: parts that repeat are bounded, or give nothing back (`*+`).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import NamedTuple


class Scope(enum.IntEnum):
    """Where a match is a placeholder."""

    TEXT = 0  # in any text
    MESSAGE = 1  # in messages of programs that name no format
    FORMAT = 2  # in messages that name the format


class Syntax(NamedTuple):
    """A way of writing placeholders."""

    scope: Scope
    expression: re.Pattern[str]


LETTER = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f_"  # no "%s" before one
WIDTH = r"(?:\*(?:\d{1,3}\$)?|[1-9]\d*+)?"
PRECISION = r"(?:\.(?:\*(?:\d{1,3}\$)?|\d*+))?"
LENGTH = "(?:hh|h|ll|l|I64|I32|[LqjztZ])?"
INTEGER_MACRO = r"PRI[diouxX](?:(?:LEAST|FAST)?(?:8|16|32|64)|MAX|PTR)"  # of C's inttypes.h


def syntax(scope: Scope, *alternatives: str) -> Syntax:
    """Returns the Syntax of regular expressions, of which the first that matches counts."""
    return Syntax(scope, re.compile("|".join(alternatives)))


SYNTAXES = {
    # ---- In any text ----
    "template": syntax(  # {{ name }}, {% if %}, {# note #}, <%= name %>, <?= $name ?>
        Scope.TEXT,
        r"\{\{\{?+[^{}\n]{0,80}+\}\}\}?+",
        r"\{%[^%\n]{0,120}+%\}",
        r"\{#[^{}#\n]{0,120}+#\}",
        r"<%[^%\n]{0,120}+%>",
        r"<\?[^?\n]{0,120}+\?>",
    ),
    "variable": syntax(  # ${name}, #{name}, %{name}, $(name), $t(key), $name, $NAME$, @:key
        Scope.TEXT,
        r"[$#%]\{[^{}\n]{1,80}+\}",
        r"\$t\([^()\n]{0,120}+\)",
        r"\$\([\w.-]{1,80}+\)",
        r"(?<![\w$])\$[A-Za-z_]\w{0,80}+\$(?!\w)",
        r"(?<![\w$])\$(?:[a-z_]\w*+|[A-Z][A-Z0-9_]{3,}+)",  # not "5 $US"
        r"(?<![\w@])@(?:\.\w{1,20}+)?:[A-Za-z_][\w-]*+(?>(?:\.[\w-]++)*)",  # vue-i18n
    ),
    "argument": syntax(  # {count, number}, {0, date, short}: of ICU's and Java's MessageFormat
        Scope.TEXT,
        r"\{\s{0,8}+\w{1,80}+\s{0,8}+,\s{0,8}+(?:number|date|time|spellout|ordinal|duration|list)"
        r"\s{0,8}+(?:,[^{}\n]{0,80}+)?\}",
    ),
    "brace": syntax(  # {}, {0}, {name!r:>10}, {:{width}}
        Scope.TEXT, r"\{[^{}\s]{0,80}+(?>(?:\{[^{}\s]{0,80}+\}[^{}\s]{0,80}+){0,3})\}"
    ),
    "conversion": syntax(  # %s, %1$s, %-10.2f, %*d, %'d, %I64d, %(name)s, %<count>d, %<PRIu64>
        Scope.TEXT,
        rf"(?<!\d)%(?:\d{{1,3}}\$)?(?:\(\w{{1,80}}+\))?[-+#0']*+{WIDTH}{PRECISION}{LENGTH}"
        rf"[diouxXeEfFgGcsp@](?![{LETTER}])",
        rf"%[-+#0']*+{WIDTH}(?:<{INTEGER_MACRO}>|{INTEGER_MACRO}(?!\w))",
        r"%<\w{1,80}+>[-+ #0]*+\d*+(?:\.\d++)?[A-Za-z]",
    ),
    "percent name": syntax(Scope.TEXT, r"(?<![\d%])%[A-Za-z_]\w++%(?![\w%*])"),  # not %d%%, %s%s
    "percent number": syntax(  # %1, %L1, of Qt and KDE; not "%50", as Turkish writes 50%
        Scope.TEXT, r"(?<![\w%])%L?[1-9](?![\w%]|[.,:]\d)"
    ),
    # ---- In messages of programs ----
    "percent letter": syntax(  # %n, %a, %%, and %name of Drupal
        Scope.MESSAGE,
        "%%",
        rf"(?<![\d%])%L?[naAm](?![{LETTER}])",
        r"(?<![\w%])%[a-z_]\w{2,80}+(?![\w%])",
        r"(?<![\w%])%L?[1-9]\d(?!\d)",
    ),
    "marked name": syntax(  # :name, !name, @name, of Laravel and Drupal; $Name
        Scope.MESSAGE,
        r"(?<![\w:/]):[A-Za-z_]\w*+(?!:)",
        r"(?<![\w!])![A-Za-z_]\w*+",
        r"(?<![\w@.])@[A-Za-z_]\w*+",
        r"(?<![\w$])\$[A-Za-z_]\w*+",
    ),
    "bracket": syntax(  # [name], [your-name], [[name]], of mail templates and WordPress
        Scope.MESSAGE,
        r"\[\[[\w.-]{1,80}+\]\]",
        r"\[/?[a-z][a-z0-9]*+(?>(?:[_-][a-z0-9]++)*)\]",
    ),
    "underlined name": syntax(  # __name__, of i18next
        Scope.MESSAGE, r"(?<!\w)__[A-Za-z][\w.-]{0,80}?__(?!\w)"
    ),
    # ---- In messages that name the format ----
    "c": syntax(
        Scope.FORMAT,
        "%%",
        rf"%[-+ #0'I]*+{WIDTH}{PRECISION}(?:<{INTEGER_MACRO}>|{INTEGER_MACRO}(?!\w))",
        rf"%(?:\d{{1,3}}\$)?[-+ #0'I]*+{WIDTH}{PRECISION}{LENGTH}[diouxXeEfFgGaAcCsSpnm@]",
    ),
    "python": syntax(
        Scope.FORMAT,
        "%%",
        rf"%(?:\([^()\n]{{1,80}}+\))?[-+ #0]*+{WIDTH}{PRECISION}[hlL]?[diouxXeEfFgGcrsa]",
    ),
    "java": syntax(
        Scope.FORMAT,
        r"%(?:\d{1,3}\$|<)?[-#+ 0,(]*+(?:[1-9]\d*+)?(?:\.\d++)?(?:[tT][A-Za-z]|[A-Za-z%])",
    ),
    "php": syntax(
        Scope.FORMAT,
        "%%",
        r"%(?:\d{1,3}\$)?(?>(?:[-+ 0]|'.){0,8})(?:[1-9]\d*+)?(?:\.\d++)?[bcdeEfFgGhHosuxX]",
    ),
    "perl": syntax(
        Scope.FORMAT,
        "%%",
        rf"%(?:\d{{1,3}}\$)?[-+ #0]*+(?:\*?v)?{WIDTH}{PRECISION}{LENGTH}[diouxXeEfFgGaAbBcspnDUO]",
    ),
    "lua": syntax(Scope.FORMAT, "%%", r"%[-+ #0]*+\d*+(?:\.\d*+)?[diouxXeEfFgGaAcsqp]"),
    "go": syntax(
        Scope.FORMAT,
        "%%",
        r"%[-+ #0]*+(?:\[\d{1,3}\])?(?:\*|[1-9]\d*+)?(?:\.(?:\[\d{1,3}\])?(?:\*|\d*+))?"
        r"(?:\[\d{1,3}\])?[vTtbcdoOqxXUeEfFgGspw]",
    ),
    "pascal": syntax(
        Scope.FORMAT,
        "%%",
        r"%(?:(?:\d++|\*):)?-?(?:\d++|\*)?(?:\.(?:\d++|\*))?[dueEfFgGnNmMpPsSxX]",
    ),
    "boost": syntax(Scope.FORMAT, r"%\d{1,3}%", r"%\|[^|\n]{1,40}+\|"),
    "gcc": syntax(Scope.FORMAT, r"%(?:\d{1,3}\$)?[-+ #0qlwzthj.*]*+\d*+[A-Za-z%<>'{}]"),
    "lisp": syntax(
        Scope.FORMAT, r"~(?>(?:[-+]?\d++|'.|[#vV,:@]){0,12})[A-Za-z%&|~$?*^<>{}\[\]()/;_]"
    ),
    "qt": syntax(Scope.FORMAT, r"%L?(?:\d{1,2}|n)"),
    "numbered": syntax(Scope.FORMAT, "%%", r"%\d{1,2}"),  # of KDE, Smalltalk and YCP
    "spaced brace": syntax(  # { 0 }, {0,-10:N2}, {0,choice,...}; {{ and }} for { and }
        Scope.FORMAT,
        r"\{[^{}\n]{0,120}+(?>(?:\{[^{}\n]{0,80}+\}[^{}\n]{0,120}+){0,8})\}",
        r"\{\{",
        r"\}\}",
    ),
    "shell": syntax(Scope.FORMAT, r"\$[A-Za-z_]\w*+", r"\$\{[^{}\n]{1,80}+\}"),
}

NAMES = (
    "percent letter",
    "marked name",
    "bracket",
    "underlined name",
)  # without a format of their own
FORMATS = {  # gettext's flag, without "-format": the syntaxes besides those of any text
    "c": ("c",),
    "objc": ("c",),
    "c++": ("spaced brace",),
    "gcc-internal": ("gcc",),
    "gfc-internal": ("gcc",),
    "python": ("python",),
    "python-brace": ("spaced brace",),
    "java": ("spaced brace",),
    "java-printf": ("java",),
    "csharp": ("spaced brace",),
    "rust": ("spaced brace",),
    "javascript": ("c", *NAMES),
    "typescript": ("c", *NAMES),
    "scheme": ("lisp",),
    "lisp": ("lisp",),
    "elisp": ("c",),
    "librep": ("c",),
    "ruby": ("c",),
    "sh": ("shell",),
    "sh-printf": ("c",),
    "awk": ("c",),
    "lua": ("lua",),
    "object-pascal": ("pascal",),
    "modula2": ("c",),
    "d": ("c",),
    "ocaml": ("c",),
    "go": ("go",),
    "tcl": ("c",),
    "perl": ("perl",),
    "perl-brace": ("brace",),
    "php": ("php", *NAMES),
    "smalltalk": ("numbered",),
    "ycp": ("numbered",),
    "qt": ("qt",),
    "qt-plural": ("qt",),
    "kde": ("numbered",),
    "kde-kuit": ("numbered",),
    "boost": ("c", "boost"),
}
PERCENT = {"conversion", "percent name", "percent number", "percent letter"}


class Placeholder(NamedTuple):
    """A part of a text that must not change."""

    start: int
    end: int
    text: str


def in_scope(scope: Scope) -> list[re.Pattern[str]]:
    """Returns the expressions of a scope and of wider ones."""
    return [syntax.expression for syntax in SYNTAXES.values() if syntax.scope <= scope]


# What is a placeholder in any text, as one expression.
ANY_TEXT = re.compile("|".join(pattern.pattern for pattern in in_scope(Scope.TEXT)))


def message_expressions(flags: Iterable[str] = ()) -> list[re.Pattern[str]]:
    """Returns the expressions of the placeholders in a message; the first of two matches counts.

    Args:
      flags: of the message, such as "c-format" and "no-python-format". Without a format, what
        messages hold in general counts; a format that is denied is not looked for.
    """
    formats, denied = [], []
    for flag in flags:
        name = flag.removesuffix("-format")
        if flag.endswith("-format") and name.removeprefix("possible-") in FORMATS:
            formats.append(name.removeprefix("possible-"))
        elif flag.endswith("-format") and name.startswith(("no-", "impossible-")):
            denied.append(name.partition("-")[2])
    if not formats:
        has_percent = not any("c" in FORMATS.get(name, ()) or name == "python" for name in denied)
        return [
            syntax.expression
            for name, syntax in SYNTAXES.items()
            if syntax.scope <= Scope.MESSAGE and (has_percent or name not in PERCENT)
        ]
    names = dict.fromkeys(name for format_name in formats for name in FORMATS[format_name])
    return [*(SYNTAXES[name].expression for name in names), *in_scope(Scope.TEXT)]


def find_placeholders(text: str, expressions: Iterable[re.Pattern[str]]) -> list[Placeholder]:
    """Returns the placeholders in a text, in order; of overlapping ones, the first and longest."""
    matches = [match for pattern in expressions for match in pattern.finditer(text)]
    matches.sort(key=lambda match: (match.start(), -match.end()))
    placeholders, end = [], 0
    for match in matches:
        if match.start() >= end:
            placeholders.append(Placeholder(*match.span(), match[0]))
            end = match.end()
    return placeholders
