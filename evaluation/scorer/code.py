"""Copy the code that an exported scorer needs into its folder, so that it runs by itself.

The modules are those of this project, with their imports renamed: an exported scorer computes what
the site computes, without Django and without this package installed.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = "crowd_scorer"
"""Folder of the copied modules, and the package that the exported files import."""
ROOTS = ("annotations", "evaluation")
PROJECT = Path(__file__).resolve().parents[2]
SCORING = "evaluation.scorer.runtime.scoring"
IMPORT = re.compile(r"^(\s*(?:from|import) )(annotations|evaluation)\b", re.MULTILINE)


def rename_imports(source: str) -> str:
    """Return a module's source with its imports of this project renamed to the copies."""
    return IMPORT.sub(rf"\1{PACKAGE}.\2", source)


def read_runtime(name: str) -> str:
    """Return the source of a file that an export has at its top, such as "task"."""
    return rename_imports(_find_file(f"evaluation.scorer.runtime.{name}").read_text("utf-8"))


@cache
def collect_code() -> dict[str, str]:
    """Return the source of each copied module by its path in the export."""
    sources: dict[str, str] = {}
    waiting, done = [SCORING], set[str]()
    while waiting:
        module = waiting.pop()
        if module in done:
            continue
        done.add(module)
        path = _find_file(module)
        source = path.read_text("utf-8")
        sources[_place(module, path)] = rename_imports(source)
        waiting += _find_imports(source)
    # A package file is copied empty: its own would import the rest of the project.
    for place in list(sources):
        for parent in Path(place).parents:
            if parent != Path():
                sources.setdefault(f"{parent}/__init__.py", "")
    sources[f"{PACKAGE}/__init__.py"] = (
        '"""Code of Crowdgrade that scores answers by an exported consensus; see LICENSE."""\n'
    )
    return dict(sorted(sources.items()))


def build_code(code_hash: str) -> dict[str, str]:
    """Return the copied modules; the package knows its hash, which `scorer.json` holds too."""
    place = f"{PACKAGE}/__init__.py"
    sources = collect_code()
    return {**sources, place: f'{sources[place]}\nCODE = "{code_hash}"\n'}


def compute_code_hash() -> str:
    """Return the first 12 hex digits of the SHA-256 of the copied modules."""
    digest = hashlib.sha256()
    for place, source in collect_code().items():
        digest.update(f"{place}\0{source}\0".encode())
    return digest.hexdigest()[:12]


def _find_imports(source: str) -> Iterator[str]:
    """Yield the modules of this project that a source imports, also within functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and _is_own(node.module):
            assert node.module is not None
            yield from _find_modules(node.module, (alias.name for alias in node.names))


def _find_modules(module: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a module, or the modules of a package that are imported from it by name."""
    path = _find_file(module)
    of_package = [
        f"{module}.{name}"
        for name in names
        if path.name == "__init__.py" and (path.parent / f"{name}.py").exists()
    ]
    yield from of_package or [module]


def _is_own(module: str | None) -> bool:
    """Return whether a module is one of this project."""
    return module is not None and module.partition(".")[0] in ROOTS


def _find_file(module: str) -> Path:
    """Return the file of a module of this project."""
    path = PROJECT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _place(module: str, path: Path) -> str:
    """Return the path of a copied module in the export."""
    name = module.replace(".", "/")
    return f"{PACKAGE}/{name}/__init__.py" if path.name == "__init__.py" else f"{PACKAGE}/{name}.py"
