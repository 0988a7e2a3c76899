"""Commands whose code is in the checkout: what an installed package without it says."""

import sys

import pytest
from django.core.management import CommandError, call_command

from evaluation.management.running import MISSING


@pytest.mark.parametrize("command", ["benchmark", "record_demo"])
def test_without_a_checkout_the_command_says_what_is_missing(monkeypatch, command):
    for name in [name for name in sys.modules if f"{name}.".startswith("tests.benchmarks.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tests.benchmarks", None)
    with pytest.raises(CommandError, match=MISSING.format(name="tests.benchmarks")):
        call_command(command)


def test_what_the_code_itself_lacks_is_reported_as_it_is(monkeypatch):
    monkeypatch.delitem(sys.modules, "tests.benchmarks.command", raising=False)
    monkeypatch.setitem(sys.modules, "tests.benchmarks.cases", None)
    with pytest.raises(ModuleNotFoundError, match=r"tests\.benchmarks\.cases"):
        call_command("benchmark")
