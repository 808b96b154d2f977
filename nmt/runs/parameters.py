"""The values of a run's parameters, and whether their flags allow them."""

import math

import params

MAX_INTEGER = 2**31 - 1  # unless a flag has another maximum


def error_in(value, flag):
    """Returns as text what is wrong with a value; None if the flag allows it."""
    if flag.choices and value not in flag.choices:
        return f"{value!r} is not one of {', '.join(flag.choices)}"
    if isinstance(value, float) and math.isnan(value):
        return "nan is not a number"
    high = MAX_INTEGER if flag.high is None and isinstance(value, int) else flag.high
    if flag.low is not None and not value >= flag.low:
        return f"{value} is less than {flag.low}"
    if high is not None and not value <= high:
        return f"{value} is more than {high}"
    return None


def check(values):
    """Returns as text what is wrong with the first of `values` that its flag does not allow."""
    for row in params.table():
        value = values[row.name]
        number = type(value) in (int, float)
        if type(value) is not row.type and not (row.type is float and number):
            return f"{row.name} is {value!r}, not of type {row.type.__name__}"
        if wrong := error_in(value, row.flag):
            return f"{row.name}: {wrong}"
    return None
