"""Form, request and command line read one declaration: the same values, the same refusals."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.core.options import API, SITE, TERMINAL, OptionError, build_problem
from evaluation.runs.run_types import list_run_kinds
from tests.evaluation.core.options.every_option import (
    EveryOption,
    RefusedError,
    by_arguments,
    by_form,
    by_request,
)

LETTERS = st.characters(categories=("L", "N", "P", "S", "Zs"))
WORDS = st.text(LETTERS, min_size=1, max_size=30).filter(lambda text: text == text.strip() != "")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-1, 1)
    | st.text(LETTERS, max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
VALID = {
    "model": WORDS.filter(lambda name: not name.startswith("http")) | st.just("large"),
    "note": WORDS | st.none(),
    "samples": st.integers(1, 50),
    "draws": st.integers(2, 99) | st.just(0),
    "temperature": st.floats(0, 2),
    "share": st.floats(0, 1, exclude_min=True) | st.none(),
    "careful": st.booleans(),
    "order": st.sampled_from(["given", "drawn"]),
    "language": st.sampled_from(["en", "de", None]),
    "without": st.lists(st.text("abc123-", min_size=1), unique=True, max_size=5).map(tuple),
    "extra": st.dictionaries(st.sampled_from("xyz"), JSON, max_size=2),
}
# Written as text, so that the form and the command line take it; where JSON has it otherwise, so.
OUT = st.one_of(
    st.tuples(st.just("samples"), st.integers(max_value=0), st.just("min_value")),
    st.tuples(st.just("samples"), st.integers(51, 10**30), st.just("max_value")),
    st.tuples(st.just("draws"), st.integers(-99, 1).filter(bool), st.just("min_value")),
    st.tuples(st.just("draws"), st.integers(100), st.just("max_value")),
    st.tuples(st.just("temperature"), st.floats(-1e9, -1e-9), st.just("min_value")),
    st.tuples(st.just("temperature"), st.floats(2.001, 1e300), st.just("max_value")),
    st.tuples(st.just("share"), st.floats(-1e300, 0), st.just("min_value")),
    st.tuples(st.just("share"), st.floats(1.001, 1e300), st.just("max_value")),
    st.tuples(st.just("order"), st.sampled_from(["Given", "x"]), st.just("invalid_choice")),
    st.tuples(st.just("language"), st.just("tlh"), st.just("invalid_choice")),
    st.tuples(st.just("note"), st.text("ab", min_size=31), st.just("max_length")),
    st.tuples(st.just("model"), st.text("ab", min_size=41), st.just("max_length")),
    st.tuples(st.sampled_from(["samples", "share"]), st.just("one"), st.just("invalid")),
    st.tuples(st.just("temperature"), st.sampled_from(["nan", "inf"]), st.just("invalid")),
    st.tuples(st.just("extra"), st.just({"long": "x" * 200}), st.just("max_length")),
)


@pytest.mark.medium
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.fixed_dictionaries({}, optional=VALID))
def test_valid_values_are_the_same_object_through_every_door(values):
    expected = EveryOption(**values)
    assert expected.find_problems() == []
    assert by_form(values) == expected
    assert by_request(values) == expected
    assert by_arguments(values) == expected
    assert EveryOption.from_dict(expected.as_dict()) == expected


@pytest.mark.medium
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(OUT)
def test_a_value_out_of_bounds_is_refused_by_every_door_with_one_code(out):
    name, value, code = out
    for door in (by_form, by_request, by_arguments):
        with pytest.raises(RefusedError) as refused:
            door({name: value})
        assert refused.value.codes == {name: code}, door


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(OUT)
def test_what_the_doors_refuse_is_a_problem_of_the_parameters_too(out):
    name, value, code = out
    if code != "invalid":  # a text where a number belongs: no door makes such an object
        assert [(one.option, one.code) for one in EveryOption(**{name: value}).find_problems()] == [
            (name, code)
        ]


@pytest.mark.parametrize(
    ("door", "at", "told"),
    [
        (by_form, "__all__", "“Quiet” contradicts “Careful”"),
        (by_request, "quiet", "quiet contradicts careful"),
    ],
)
def test_what_contradicts_itself_is_told_in_the_words_of_the_door(door, at, told):
    with pytest.raises(RefusedError) as refused:
        door({"quiet": True, "careful": True})
    assert refused.value.codes == {at: "loud"}
    assert refused.value.said == [told]


def test_the_command_line_tells_contradictions_by_flags_and_ends_with_2():
    with pytest.raises(CommandError, match=r"^--quiet contradicts --careful$") as refused:
        by_arguments({"quiet": True, "careful": True})
    assert refused.value.returncode == 2


def test_an_option_that_would_not_be_used_is_refused_with_the_value_that_it_needs():
    [idle] = EveryOption(seed=7).find_problems()
    assert idle == build_problem("only_with", "seed", other="order", wanted="drawn")
    assert EveryOption(seed=7, order="drawn").find_problems() == []


@pytest.mark.parametrize("door", [by_form, by_request])
def test_what_makes_the_server_call_another_machine_is_for_operators(door):
    with pytest.raises(RefusedError) as refused:
        door({"model": "http://10.0.0.1"})
    assert refused.value.codes == {"model": "operators_only"}
    assert door({"model": "http://10.0.0.1"}, operator=True).model == "http://10.0.0.1"
    assert by_arguments({"model": "http://10.0.0.1"}).find_problems() == []


def test_a_file_is_for_the_command_line_alone():
    assert by_arguments({"template": "a.txt"}).template == Path("a.txt")
    assert by_form({"template": "a.txt"}).template is None
    with pytest.raises(RefusedError) as refused:
        by_request({"template": "a.txt"})
    assert [*refused.value.codes] == ["template"]


def test_help_calls_other_options_as_the_door_does():
    for words, told in ((TERMINAL, "--careful"), (SITE, "“Careful”"), (API, "careful")):
        assert words.format_help(EveryOption, "quiet") == f"Says less than {told}."


def test_settings_say_what_differs_from_the_default_in_words():
    asked = EveryOption(order="drawn", careful=True, without=("a", "b"), extra={"n": 1})
    told = [(one.label, one.value) for one in EveryOption.list_changed_settings(asked.as_dict())]
    assert told == [
        ("Careful", "yes"), ("Order", "by lot"), ("Without", "a, b"), ("Extra", '{"n": 1}'),
    ]  # fmt: skip
    assert len(EveryOption.list_settings({})) == len(EveryOption.get_options())
    assert EveryOption.list_changed_settings({"gone": 3})[0].name == "gone"  # of another version


def test_stored_options_of_another_version_are_named():
    with pytest.raises(KeyError) as error:
        EveryOption.from_dict({"samples": 2, "gone": 1, "away": 2})
    assert error.value.args == ("away", "gone")


def test_an_error_for_logs_says_option_code_and_values():
    wrong = replace(EveryOption(), samples=0).find_problems()
    assert str(OptionError(wrong)) == "samples: min_value, given=0, lowest=1, why="


def test_every_option_of_every_kind_is_told_without_its_code_name():
    for kind in list_run_kinds().values():
        for name, known in kind.options.get_options().items():
            other = next(value for value in (True, ["x"], "x", 7) if _takes(known, value))
            other = not known.default if other is True else other
            [said] = kind.options.summarize_changes({name: other}, {})
            assert said, (kind.name, name)
            assert name == name.replace("_", "") or name not in said, (kind.name, name)


def _takes(known, value):
    wrong = known.find_problem(value)
    return wrong is None or wrong.code != "invalid"
