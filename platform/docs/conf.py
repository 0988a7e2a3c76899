"""Configuration of Sphinx: the documentation site, of the Markdown that the site's Help shows."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parents[1]), str(DOCS.parent)]

project = "Crowdgrade"
author = "the Crowdgrade authors"
project_copyright = author
language = "en"
html_theme = "furo"
html_title = "Crowdgrade"
html_static_path = ["reference/static"]
html_css_files = ["wide.css"]
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.openapi",
]

# Links between documents name headings as Help and code hosts do.
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Else the fields of a record are listed twice: by its docstring and as parameters.
autodoc_typehints_description_target = "documented"
napoleon_use_ivar = True

# Pages of this site only: Help does not show them, and the contents page does not list them.
REFERENCE = {"Use from programs": ("reference/python", "reference/rest")}


def add_table_of_contents(_app: Sphinx, document: str, source: list[str]) -> None:
    """Append a hidden table of contents of the documents that a page of links names.

    `index.md` is the one list of documents, for Help too, which knows no directives. Each of its
    headings becomes a part of the navigation.
    """
    if document == "index":
        parts = re.split(r"^## (.+)$", source[0], flags=re.MULTILINE)[1:]
        for caption, part in zip(parts[::2], parts[1::2], strict=True):
            documents = [*_find_documents(part), *REFERENCE.get(caption, ())]
            source[0] += _format_tree(documents, f":caption: {caption}\n")
    elif document == "notebooks":
        source[0] += _format_tree(_find_documents(source[0]))


def _format_tree(documents: Sequence[str], options: str = "") -> str:
    """Return the directive that puts documents into the navigation and shows nothing."""
    lines = "\n".join(documents)
    return f"\n```{{toctree}}\n:hidden:\n{options}\n{lines}\n```\n"


def _find_documents(part: str) -> list[str]:
    """Return the names of the documents that a part of the contents page links to, in order."""
    return re.findall(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", part)


def split_descriptions(
    _app: Sphinx, _kind: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Put the description of a parameter or attribute on a line of its own.

    The docstrings write "name : description", where Sphinx expects a type: their types stand in
    the signature. In a section only entries begin at the section's indentation.
    """
    changed: list[str] = []
    in_section = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.strip() and set(following.strip()) == {"-"}:
            in_section = line.strip() in ("Parameters", "Attributes")
        entry = re.fullmatch(r"([*\w]+(?:, [*\w]+)*) : (.+)", line) if in_section else None
        if entry is None:
            changed.append(line)
            continue
        *names, last = entry[1].split(", ")
        for name in names:
            changed += [name, f"    see `{last}`."]
        changed += [last, f"    {entry[2]}"]
    lines[:] = changed


def setup(app: Sphinx) -> None:
    """Connect what changes the documents on their way into the site."""
    app.connect("source-read", add_table_of_contents)
    # Before napoleon reads the sections, which it does at the default priority of 500.
    app.connect("autodoc-process-docstring", split_descriptions, priority=400)
