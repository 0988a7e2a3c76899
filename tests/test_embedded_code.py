"""Code that tests hold as text, for other processes, imports only names that exist.

Most of these tests run in the long run alone, so a name that was changed would be found late.
"""

import ast
import importlib
import importlib.util
import textwrap
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN = ("annotations", "crowdgrade", "evaluation")


def find_programs(path):
    """Yield line and syntax tree of each text of a test module that is a program of imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            # What is put in takes the place of a name.
            text = "".join(str(getattr(part, "value", "X")) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if "import " in text:
            try:
                yield node.lineno, ast.parse(textwrap.dedent(text))
            except SyntaxError:
                continue  # a sentence


def find_missing_names(program):
    """Return the names that a program takes from the product's modules, which have none such."""
    missing, modules = [], {}
    for node in ast.walk(program):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] not in OWN:
            continue
        try:
            module = importlib.import_module(node.module)
        except ImportError:
            missing.append(node.module)
            continue
        for name in node.names:
            dotted = f"{node.module}.{name.name}"
            if isinstance(value := getattr(module, name.name, None), types.ModuleType):
                modules[name.asname or name.name] = value
            elif hasattr(module, "__path__") and value is None and importlib.util.find_spec(dotted):
                modules[name.asname or name.name] = importlib.import_module(dotted)
            elif not hasattr(module, name.name):
                missing.append(dotted)
    for node in ast.walk(program):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None and not hasattr(module, node.attr):
                missing.append(f"{module.__name__}.{node.attr}")
    return missing


@pytest.mark.slow
def test_code_in_the_texts_of_tests_imports_names_that_exist():
    programs = [
        (path, line, program)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__)
        for line, program in find_programs(path)
    ]
    assert len(programs) > 40
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, line, program in programs
        for name in find_missing_names(program)
    ]
    assert missing == []


def test_a_name_that_is_gone_is_found():
    program = ast.parse(
        "from evaluation.runs.background import runs\n"
        "from evaluation.models import Run, Walk\n"
        "runs.queue_run(runs.enqueue)\n"
    )
    assert find_missing_names(program) == [
        "evaluation.models.Walk",
        "evaluation.runs.background.runs.enqueue",
    ]
