"""Tests assert codes and values; catalogues' tests alone assert the product's sentences."""

from collections import Counter

from tests.prose import ROOT, modules_below, phrases, product_phrases, prose_assertions

# How many test functions of a folder still assert prose: only to be lowered.
LEFT = {
    "attack/test_frame.py": 1,
    "browser/test_audit.py": 1,
    "browser/test_facts.py": 1,
    "browser/test_graded.py": 1,
    "browser/test_judging.py": 1,
    "browser/test_keys.py": 1,
    "browser/test_monitor.py": 1,
    "browser/test_noticing.py": 1,
    "browser/test_other_words.py": 1,
    "browser/test_paying.py": 1,
    "browser/test_runs.py": 1,
    "browser/test_views.py": 2,
    "browser/test_waves.py": 1,
    "crowdgrade/test_demo.py": 2,
    "crowdgrade/test_disks.py": 3,
    "crowdgrade/test_local_model.py": 2,
    "crowdgrade/test_lost_connections.py": 2,
    "crowdgrade/test_outages.py": 4,
    "crowdgrade/test_settings.py": 1,
    "crowdgrade/test_supervisor.py": 1,
    "crowdgrade/test_web_processes.py": 1,
    "desk/test_access.py": 2,
    "desk/test_account.py": 1,
    "desk/test_collecting.py": 8,
    "desk/test_editor.py": 7,
    "desk/test_exporting.py": 1,
    "desk/test_invitations.py": 1,
    "desk/test_lists.py": 1,
    "desk/test_missing.py": 4,
    "desk/test_paying.py": 8,
    "desk/test_paying_appeals.py": 5,
    "desk/test_paying_bonuses.py": 6,
    "desk/test_paying_inviting.py": 3,
    "desk/test_preview.py": 3,
    "desk/test_question_sets.py": 3,
    "desk/test_runs.py": 11,
    "desk/test_sharing.py": 8,
    "desk/test_translating.py": 1,
    "desk/test_writing.py": 4,
    "evaluation/backends": 21,
    "evaluation/background": 28,
    "evaluation/kinds": 126,
    "evaluation/methods": 18,
    "evaluation/models": 5,
    "evaluation/paying": 13,
    "evaluation/reports": 17,
    "evaluation/site": 161,
    "evaluation/steps": 10,
    "evaluation/test_recruiting.py": 4,
    "evaluation/test_waves.py": 4,
    "evaluation/texts": 5,
    "evaluation/words": 3,
}


def functions_with_prose():
    """How many test functions assert prose, by the first two parts of their path below tests/."""
    modules = modules_below([ROOT / "tests"])
    functions = {(one.path, one.function) for each in modules for one in prose_assertions(each)}
    below = (path.relative_to(ROOT / "tests") for path, _ in functions)
    return Counter("/".join(path.parts[:2]) for path in below)


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


def test_no_test_function_asserts_prose_but_those_that_are_counted():
    found = functions_with_prose()
    assert {name: n for name, n in found.items() if n > LEFT.get(name, 0)} == {}
