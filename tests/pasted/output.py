"""Compares what commands print with what a document shows. What differs from run to run is not compared: keys, times, versions, durations, the
width of columns. `…` in a document stands for anything."""

from __future__ import annotations

import re

ANYTHING = "…"

# The order counts: a time holds what looks like a version.
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b\d{16,19}\b"), "KEY"),
    (re.compile(r"\b\d{13}\b"), "MILLISECONDS"),
    (re.compile(r"(?<![\d.])\d+\.\d+\.\d+(?![\d.])"), "VERSION"),
    (re.compile(r"\b[\d.]+ (ms|s)\b"), "DURATION"),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r" ?\n ?"), "\n"),
)
_REFUSED = re.compile(r'"status": ?[45]\d\d\b')


def steady(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    return text.strip()


def difference(shown: str, printed: str) -> str | None:
    """How what was printed differs from what the document shows."""
    expected = ".*?".join(re.escape(steady(part)) if part.strip() else r"\s*" for part in shown.split(ANYTHING))
    # Blanks around `…` belong to it.
    if re.fullmatch(r"\s*" + expected.replace(".*?", r"\s*.*?\s*") + r"\s*", steady(printed), re.DOTALL):
        return None
    return f"the document shows:\n{_indented(shown)}\nprinted was:\n{_indented(printed)}"


def refusal(printed: str) -> str | None:
    """An answer of the API that refuses, which `curl -s` takes for success."""
    found = _REFUSED.search(printed)
    return f"the server refused:\n{_indented(printed)}" if found else None


def _indented(text: str) -> str:
    return "\n".join(f"  | {line}" for line in text.strip().splitlines())
