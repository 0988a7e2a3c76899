"""Tests assert codes and values; catalogues' tests alone assert the product's sentences."""

from collections import Counter

import pytest

from tests.prose import ROOT, modules_below, phrases, product_phrases, prose_assertions

# How many test functions of a folder still assert prose: only to be lowered.
LEFT: dict[str, int] = {}


def functions_with_prose():
    """How many test functions assert prose, by the first two parts of their path below tests/."""
    modules = modules_below([ROOT / "tests"])
    functions = {(one.path, one.function) for each in modules for one in prose_assertions(each)}
    below = (path.relative_to(ROOT / "tests") for path, _ in functions)
    return Counter("/".join(path.parts[:2]) for path in below)


@pytest.mark.slow
def test_a_sentence_of_the_product_is_found_and_a_tests_own_text_is_not(tmp_path):
    sentence = min(text for text in map(" ".join, product_phrases()) if "'" not in text)
    module = tmp_path / "test_made_up.py"
    module.write_text(
        f"def test_page(page):\n"
        f"    assert 'so: {sentence}!' in page\n"
        f"def test_own_text(page):\n"
        f"    assert 'xyzzy plugh quux grault' in page\n"
        f"def helper(page):\n"
        f"    assert '{sentence}' in page\n"
        f"def test_error():\n"
        f"    with pytest.raises(ValueError, match='{sentence}'):\n"
        f"        pass\n"
    )
    assert [one.function for one in prose_assertions(module)] == ["test_page", "test_error"]


def test_phrases_are_runs_of_four_words_in_small_letters():
    assert phrases("It’s so, 3 times <b>over</b> now") == {
        ("it's", "so", "times", "b"),
        ("so", "times", "b", "over"),
        ("times", "b", "over", "b"),
        ("b", "over", "b", "now"),
    }
    assert phrases("three words only") == set()


@pytest.mark.slow
def test_no_test_function_asserts_prose_but_those_that_are_counted():
    found = functions_with_prose()
    assert {name: n for name, n in found.items() if n > LEFT.get(name, 0)} == {}
