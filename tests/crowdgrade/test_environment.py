"""One declaration of the environment variables: code reads no other, the document lists all."""

import ast
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from crowdgrade import environment
from crowdgrade.environment import DECLARED, INTERNAL, SYSTEM, insert_variables_table

ROOT = Path(__file__).resolve().parents[2]
CODE = [
    *(ROOT / "annotations").rglob("*.py"),
    *(ROOT / "evaluation").rglob("*.py"),
    *(ROOT / "platform" / "crowdgrade").rglob("*.py"),
    ROOT / "manage.py",
]
READERS = {"read_variable", "read_flag", "read_number", "read_rate", "read_list", "read_choice"}
READERS |= {"read_secret", "getenv"}
METHODS = {"get", "pop", "setdefault"}
CHOSEN = {("evaluation/core/backends/server.py", "self.api_key_env")}
"""Names that an option or a registered model chooses."""
OWN_FUNCTIONS = {"platform/crowdgrade/environment.py": {"name"}}
INHERITED = {
    "annotations/exchange/reading/bounded_process.py": {"name"},
    "platform/crowdgrade/sign_in/options.py": {"variable"},
}
"""Loops over names that stand beside them, or over the declared ones."""


def find_names(tree, has_readers):
    """Yield the expression of each name that code reads or sets in the environment."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func)
            is_method = function.rpartition(".")[0].endswith("environ")
            if (is_method and function.rpartition(".")[2] in METHODS) or (
                function.rpartition(".")[2] in READERS
                and (has_readers or function.endswith("getenv"))
                and function.rpartition(".")[0] in ("", "os", "environment")
            ):
                yield node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
            yield node.slice


def read_names(path):
    """Return the names, and the expressions that are no constants, that a module reads."""
    code = path.read_text(encoding="utf-8")
    tree = ast.parse(code)
    constants = {
        ast.unparse(target): node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }
    names, others = set(), set()
    for expression in find_names(tree, "crowdgrade.environment" in code):
        text = ast.unparse(expression)
        value = expression.value if isinstance(expression, ast.Constant) else constants.get(text)
        if isinstance(value, str):
            names.add(value)
        else:
            others.add(text)
    return names, others


@pytest.mark.slow
def test_code_reads_declared_variables_only():
    read, undeclared = set(), {}
    for path in CODE:
        place = str(path.relative_to(ROOT))
        names, others = read_names(path)
        others -= OWN_FUNCTIONS.get(place, set()) | INHERITED.get(place, set())
        others -= {text for where, text in CHOSEN if where == place}
        read |= names
        if wrong := (names - DECLARED - INTERNAL - SYSTEM) | others:
            undeclared[place] = wrong
    assert undeclared == {}
    # What is declared and nobody reads would be a variable without effect.
    chosen_by_options = {"OPENAI_API_KEY", "CROWDGRADE_DATA"}
    assert DECLARED - read - chosen_by_options == set()


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["UNDECLARED"]',
        'os.environ.get("UNDECLARED", "")',
        'os.getenv("UNDECLARED")',
        'from crowdgrade.environment import read_number\nread_number("UNDECLARED", 3)',
        'import crowdgrade.environment as environment\nenvironment.read_variable("UNDECLARED")',
        'NAME = "UNDECLARED"\nos.environ.pop(NAME)',
    ],
)
def test_each_way_of_reading_is_found(tmp_path, line):
    module = tmp_path / "module.py"
    module.write_text(line)
    assert read_names(module)[0] == {"UNDECLARED"}


def test_an_undeclared_variable_is_refused_when_it_is_read():
    with pytest.raises(LookupError):
        environment.read_variable("UNDECLARED")


def test_the_table_of_the_document_is_the_declaration():
    text = (ROOT / "platform" / "docs" / "operations.md").read_text(encoding="utf-8")
    assert insert_variables_table(text) == text


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: environment.read_choice("LOG_FORMAT", ("text", "json")), "xml"),
        (lambda: environment.read_secret("METRICS_TOKEN", 16), "short"),
        (lambda: environment.read_number("READY_FREE_MB", 1), "-1"),
    ],
)
def test_a_bad_value_is_named(monkeypatch, read, value):
    for name in ("LOG_FORMAT", "METRICS_TOKEN", "READY_FREE_MB"):
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        read()
    assert str(refused.value).startswith(("LOG_FORMAT", "METRICS_TOKEN", "READY_FREE_MB"))
