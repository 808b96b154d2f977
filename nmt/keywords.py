"""Public functions whose misspelled keyword arguments are answered with the right ones."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from nmt.messages import closest

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises a TypeError, as Python does, but says what a keyword that is not known may mean."""
    names = sorted(known)
    for name in given:
        if name not in names:
            close = closest(name, [known_name.replace("_", "-") for known_name in names])
            meant = f"did you mean {close.replace('-', '_')}?" if close else ""
            raise TypeError(
                f"{function} has no argument {name!r}; {meant or 'there are ' + ', '.join(names)}"
            )


def suggests_keywords(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Returns a function of explicit keywords that calls `check_keywords` first."""
    parameters = inspect.signature(function).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind != parameter.VAR_KEYWORD]

    @functools.wraps(function)
    def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
        check_keywords(function.__name__, keywords, known)
        return function(*arguments, **keywords)

    return checked
