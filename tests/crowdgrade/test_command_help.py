"""``manage.py help``: each command of Crowdgrade in one group, with what it is for."""

from collections import Counter

import pytest
from django.core.management import get_commands, load_command_class

from crowdgrade.command_help import GROUPS, CommandLine, is_own_app, read_command_summary

OWN = sorted(name for name, app in get_commands().items() if is_own_app(app))


def test_each_command_of_crowdgrade_is_in_one_group():
    listed = Counter(name for names in GROUPS.values() for name in names)
    assert sorted(listed) == OWN
    assert set(listed.values()) == {1}


@pytest.mark.parametrize("name", OWN)
def test_the_summary_is_the_beginning_of_the_help_of_the_command(name):
    app = get_commands()[name]
    first = read_command_summary(app, name)
    words = load_command_class(app, name).help.replace("(", "").replace(")", "").split()
    assert len(first.split()) >= 4
    assert first.split()[:2] == words[:2]


def test_the_list_has_a_line_for_each_command_and_djangos_below(monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    lines = CommandLine(["manage.py", "help"]).main_help_text().splitlines()
    begins = [line.split()[0] for line in lines if line.startswith("  ")]
    own = [name for names in GROUPS.values() for name in names]
    assert begins[: len(own)] == own
    assert max(map(len, lines)) <= 90
    below = " ".join(lines[-10:])
    assert "migrate" in below
    assert "createsuperuser" in below


def test_the_names_alone_are_djangos_list():
    names = CommandLine(["manage.py", "help", "--commands"]).main_help_text(commands_only=True)
    assert set(OWN) <= set(names.split())
