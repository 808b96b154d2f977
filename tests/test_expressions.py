"""What must hold of each regular expression for texts of others: it takes linear time on any text.

A quadratic one takes minutes for 100,000 characters, holds the interpreter, and so stops a server.
The texts that each is tried with come from its own parts: what it repeats, behind what precedes it.
"""

import ast
import collections
import contextlib
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path
from re import _constants as op  # of the parser, whose trees are lists of (operation, arguments)
from re import _parser
from typing import NamedTuple

import pytest

import nmt.documents
import nmt.text

POOL = " \t\n\ra7.,:;-_'\"`<>=/\\|{}[]()&%$@#!?*+~^•é漢\ue000"
CATEGORIES = {
    op.CATEGORY_SPACE: r"\s", op.CATEGORY_NOT_SPACE: r"\S", op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D", op.CATEGORY_WORD: r"\w", op.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
REPEATS = op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT
SUBTREES = {
    op.SUBPATTERN: lambda argument: [argument[3]], op.ATOMIC_GROUP: lambda argument: [argument],
    op.BRANCH: lambda argument: argument[1], op.ASSERT: lambda argument: [argument[1]],
    op.ASSERT_NOT: lambda argument: [argument[1]],
} | dict.fromkeys(REPEATS, lambda argument: [argument[2]])  # fmt: skip
MAX_TEXTS = 100  # that an expression is tried with, of those made for it
MAX_CHARACTERS = 4  # that stand for a class
LIMITS = {3_000: 0.03, 30_000: 0.3}  # seconds, by characters; linear ones take a tenth at most


class Expression(NamedTuple):
    """An expression, and how it is used."""

    name: str
    pattern: re.Pattern
    is_searched: bool  # else it is tried at the beginning of a text alone


@functools.cache
def expressions() -> list[Expression]:
    """Returns the expressions of two packages: those of modules, and those in calls of `re`."""
    source = "".join(path.read_text() for path in Path(nmt.__file__).parent.rglob("*.py"))
    calls = collections.defaultdict(list)  # of methods, by the name of their object
    for name, method, arguments in re.findall(r"\b(\w+)\.(\w+)\((?=([^()]*))", source):
        calls[name].append("match" in method and "," not in arguments)
    compiled = {}
    for package in (nmt.documents, nmt.text):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            values = vars(module) | {"kinds": getattr(module, "kinds", dict)()}
            for name, value in values.items():
                for pattern in patterns_within(value):
                    is_searched = not calls[name] or not all(calls[name])
                    key = pattern.pattern, pattern.flags
                    compiled[key] = Expression(name, pattern, is_searched)
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                is_call = name.startswith("re.") and name not in ("re.compile", "re.escape")
                expression = node.args[0] if is_call and node.args else None
                if isinstance(expression, ast.Name):
                    expression = ast.Constant(vars(module).get(expression.id))
                if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
                    pattern, name = re.compile(expression.value), f"{info.name}:{node.lineno}"
                    is_searched = "match" not in node.func.attr
                    key = pattern.pattern, pattern.flags
                    compiled.setdefault(key, Expression(name, pattern, is_searched))
    return [*compiled.values()]


def patterns_within(value: object) -> Iterator[re.Pattern]:
    """Yields the patterns that a value of a module is, or holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_within([*value, *value.values()])
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from patterns_within(item)


def matches_class(character: str, items: list) -> bool:
    """Returns whether a character is of a class, [...]."""

    def matches(operation, argument) -> bool:
        if operation is op.LITERAL:
            return ord(character) == argument
        if operation is op.RANGE:
            return argument[0] <= ord(character) <= argument[1]
        return bool(re.match(CATEGORIES[argument], character))

    is_negated = items[0][0] is op.NEGATE
    return any(itertools.starmap(matches, items[is_negated:])) != is_negated


def samples(tree: list) -> list[str]:
    """Returns texts that a part of an expression matches, if all around it does."""
    texts = [""]
    for operation, argument in tree:
        texts = [text + part for text in texts for part in parts(operation, argument)]
        texts = texts[:MAX_CHARACTERS]
    return texts


def parts(operation, argument) -> list[str]:
    """Returns texts that a single part of an expression matches."""
    if operation is op.LITERAL:
        return [chr(argument)]
    if operation is op.NOT_LITERAL:
        return [character for character in POOL if ord(character) != argument][:MAX_CHARACTERS]
    if operation is op.IN:
        characters = [character for character in POOL if matches_class(character, argument)]
        characters += [chr(item[1]) for item in argument if item[0] is op.LITERAL][:1]
        characters += [chr(item[1][0]) for item in argument if item[0] is op.RANGE][:1]
        return characters[:MAX_CHARACTERS]
    if operation is op.CATEGORY:
        return parts(op.IN, [(operation, argument)])
    if operation is op.ANY:
        return ["a", "<"]
    if operation in REPEATS:
        return samples(argument[2]) if argument[0] else ["", *samples(argument[2])]
    if operation is op.SUBPATTERN:
        return samples(argument[3])
    if operation is op.ATOMIC_GROUP:
        return samples(argument)
    if operation is op.BRANCH:
        return [text for branch in argument[1] for text in samples(branch)[:2]]
    return [""]  # what takes no characters


def repeated_parts(tree: list, before: str = "") -> Iterator[tuple[str, str]]:
    """Yields what an expression repeats, each with a text that leads to it."""
    for operation, argument in tree:
        if operation in REPEATS:
            for text in samples(argument[2]):
                yield before, text
        for subtree in SUBTREES.get(operation, lambda argument: [])(argument):
            yield from repeated_parts(subtree, before)
        before += max(parts(operation, argument), key=len, default="")


def hard_texts(pattern: re.Pattern, length: int) -> list[str]:
    """Returns texts of a length in characters that an expression matches almost."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    repeated = list(repeated_parts(list(tree)))
    texts = {text for pair in repeated for text in (*pair, "".join(pair))} | set(samples(tree))
    texts |= {before + text for before in texts for _, text in repeated if len(before) < 3}
    texts = {text * (length // len(text)) for text in texts if text}
    texts |= {before + text * length for before, text in repeated if text and before}
    return sorted(texts)[:: len(texts) // MAX_TEXTS + 1]


def seconds(expression: Expression, text: str) -> float:
    """Returns how long it takes to find all matches."""
    pattern = expression.pattern
    text = text.encode() if isinstance(pattern.pattern, bytes) else text
    start = time.process_time()
    if expression.is_searched:
        for _ in pattern.finditer(text):
            pass
    else:
        pattern.match(text), pattern.fullmatch(text)
    return time.process_time() - start


@pytest.mark.parametrize("expression", expressions(), ids=lambda expression: expression.name)
def test_an_expression_takes_linear_time(expression):
    for length, limit in LIMITS.items():
        for text in hard_texts(expression.pattern, length):
            if seconds(expression, text) > limit:  # or the machine was busy
                duration = min(seconds(expression, text) for _ in range(3))
                assert duration < limit, f"{duration:.2f} s for {text[:20]!r}..."


# ---- Python before 3.11.5 (Debian 12 has 3.11.2) repeats a group possessively in a wrong way ----

ROOT = Path(nmt.__file__).parents[1]
OUTSIDE_PRODUCT = {"tests", "benchmarks", "site"}
SOURCES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if not path.relative_to(ROOT).parts[0].startswith((".", *OUTSIDE_PRODUCT))
]


def repeats_group(tree: list) -> bool:
    """Returns whether an expression repeats a group possessively, such as (?:ab)*+."""
    return any(
        (operation is op.POSSESSIVE_REPEAT and not is_simple(argument[2]))
        or any(map(repeats_group, SUBTREES.get(operation, lambda argument: [])(argument)))
        for operation, argument in tree
    )


def is_simple(tree: list) -> bool:
    """Returns whether a part of an expression is a single character or class."""
    return len(tree) == 1 and tree[0][0] in (
        op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN, op.CATEGORY,
    )  # fmt: skip


def strings(source: str) -> Iterator[str]:
    """Yields all texts in a source, with a group wherever a value is inserted."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            parts = (getattr(part, "value", "") for part in node.values)
            yield "".join(part if isinstance(part, str) else "(?:x|yz)" for part in parts)


def wrong_expressions(texts: Iterator[str]) -> list[str]:
    """Returns the texts that are expressions in which a group is repeated possessively."""
    wrong = []
    for text in texts:
        if not re.search(r"[*+?}]\+", text):
            continue
        with contextlib.suppress(re.error, OverflowError):  # part of an expression, or prose
            if repeats_group(_parser.parse(text)):
                wrong.append(text)
    return wrong


def test_no_group_is_repeated_possessively():
    """In Python before 3.11.5 it matches wrongly (gh-106052); (?>(?:ab)*) is right in all."""
    for path in SOURCES:
        assert not wrong_expressions(strings(path.read_text())), path
    compiled = (expression.pattern.pattern for expression in expressions())
    assert not wrong_expressions(text for text in compiled if isinstance(text, str))


@pytest.mark.parametrize(
    "source", ["'(?:ab)*+'", "'(a|b)++'", "'x(?:(?:ab){2,3}+)y'", 'f"{x}?+"', "'(?=(?:ab)?+)'"]
)
def test_a_group_that_is_repeated_possessively_is_found(source):
    assert wrong_expressions(strings(source))
