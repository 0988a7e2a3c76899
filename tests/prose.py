"""Finds test functions that assert the product's prose instead of codes and values.

    python -m tests.prose [PATH ...]

prints each assertion with its place, and the number of functions. A string in an assertion, in
`pytest.raises(match=...)` or in a parameter counts as prose when four of its words in a row are in
the product's own texts: the strings of its modules (docstrings left out) and its templates.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("annotations", "evaluation", "platform/crowdgrade")
LENGTH = 4
"""Words in a row that tell the product's prose from a name, a column or an answer."""

CATALOGUE_TESTS = {"test_catalogues.py", "test_sentences.py"}
"""Names of modules that assert each sentence of a catalogue once."""

WORD = re.compile(r"[A-Za-z']+")
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class ProseAssertion:
    """A string of the product's prose that a test function asserts."""

    path: Path
    line: int
    function: str
    text: str


def phrases(text: str) -> set[Phrase]:
    """Return each run of `LENGTH` words of a text, in small letters."""
    words = [word.lower() for word in WORD.findall(text.replace("’", "'"))]
    return {tuple(words[at : at + LENGTH]) for at in range(len(words) - LENGTH + 1)}


@cache
def product_phrases() -> frozenset[Phrase]:
    """Return the phrases of all strings and templates of the product."""
    found: set[Phrase] = set()
    for folder in PRODUCT:
        for path in (ROOT / folder).rglob("*.py"):
            if "migrations" not in path.parts:
                for string in strings_of(ast.parse(path.read_text("utf-8"))):
                    found |= phrases(string)
    for path in (ROOT / "templates").rglob("*.*"):
        if path.suffix in {".html", ".txt"}:
            found |= phrases(MARKUP.sub(" ", path.read_text("utf-8")))
    return frozenset(found)


def strings_of(module: ast.Module) -> Iterator[str]:
    """Yield the strings of a module except its docstrings."""
    docstrings = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr):
                docstrings.add(id(first.value))
    for node in ast.walk(module):
        if is_string(node) and id(node) not in docstrings:
            yield node.value


def is_string(node: ast.AST) -> bool:
    """Return whether a node is a string constant."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_prose(node: ast.AST) -> bool:
    """Return whether a node is a string that shares a phrase with the product's texts.

    A string without a space is a code, a column or an address.
    """
    return (
        is_string(node)
        and " " in node.value
        and not product_phrases().isdisjoint(phrases(node.value))
    )


def asserted_parts(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the expressions of a test function that say what is right."""
    yield from function.decorator_list
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "raises":
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")


def prose_assertions(path: Path) -> Iterator[ProseAssertion]:
    """Yield the assertions of prose in a test module."""
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, ast.FunctionDef) or not function.name.startswith("test_"):
            continue
        for part in asserted_parts(function):
            for node in ast.walk(part):
                if is_prose(node):
                    yield ProseAssertion(path, node.lineno, function.name, node.value)


def modules_below(paths: list[Path]) -> list[Path]:
    """Return the test modules that are, or lie below, the paths, less those of catalogues."""
    return sorted(
        module
        for path in paths
        for module in (path.rglob("test_*.py") if path.is_dir() else [path])
        if module.name not in CATALOGUE_TESTS
    )


def main() -> None:
    """Print the assertions of prose below the paths of the command line."""
    paths = [Path(path).resolve() for path in sys.argv[1:]] or [ROOT / "tests"]
    found = [one for module in modules_below(paths) for one in prose_assertions(module)]
    for one in found:
        print(f"{one.path.relative_to(ROOT)}:{one.line}: {one.text[:100]!r}")
    functions = {(one.path, one.function) for one in found}
    print(f"{len(functions)} test functions assert prose ({len(found)} strings)")


if __name__ == "__main__":
    main()
