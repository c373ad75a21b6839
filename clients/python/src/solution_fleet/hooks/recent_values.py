"""The last values of something that is costly to compute."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class RecentValues(Generic[Value]):
    """At most so many values, of which the oldest go first. Safe to share between threads."""

    def __init__(self, max_values: int) -> None:
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._max_values = max_values

    def get(self, key: Hashable) -> Value | None:
        return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> Value:
        """Gives the value."""
        self._values[key] = value
        # Each step is one step of the interpreter; two threads may at most remove one value too many.
        if len(self._values) > self._max_values:
            self._values.popitem(last=False)
        return value
