"""Files of prompts that mean the same, and the organisers' own of 2024."""

import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.reading.prompts import read_prompts
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import check_problem, only_problem

ITEM = {
    "id": "001",
    "variation": "style",
    "variants": [{"language": "en", "prompt": "Tell me."}, {"language": "en", "prompt": "Say."}],
}


def read(*items, **facts):
    test = {"source": "us", "year": "2024", **facts, "items": list(items)}
    text = json.dumps({"eloquent-robustness-test": test}, indent=0)
    return read_prompts(make_bytes_source("prompts.json", text.encode()))


def problems(*items):
    with pytest.raises(InputError) as caught:
        read(*items)
    return caught.value.problems


@pytest.mark.data
def test_the_file_of_2024_is_refused_with_the_places_of_its_two_missing_commas(data_folder):
    with pytest.raises(InputError) as caught:
        read_prompts(data_folder / "eloquent2024" / "task3.test.json")
    assert [(one.line, one.column) for one in caught.value.problems] == [(118, 1), (119, 1)]
    assert caught.value.problems[0].values["after_line"] == 117
    assert "--repair" in str(caught.value)


@pytest.mark.data
def test_the_file_of_2024_repaired_has_16_items_103_prompts_and_8_languages(data_folder):
    found = read_prompts(data_folder / "eloquent2024" / "task3.test.json", repair=True)
    assert (len(found.items), found.n_prompts, len(found.languages)) == (16, 103, 8)
    assert [one.after_line for one in found.repairs] == [117, 118]
    assert [item.id for item in found.items] == [f"{n:03}" for n in range(1, 17)]
    alone = [item.id for item in found.items if len(item.list_variants_in("en")) < 2]
    assert alone == ["009"]
    assert (found.source, found.year) == ("eloquent organisers", "2024")
    again = read_prompts(make_bytes_source("mended.json", found.mended.encode()))
    assert again.items == found.items
    assert not again.repairs


def test_ids_keep_their_zeros_and_prompts_their_blanks():
    item = {**ITEM, "id": " 007 ", "variants": [{"language": "EN", "prompt": " Tell me. "}]}
    (found,) = read(item).items
    assert (found.id, found.languages) == ("007", ("en",))
    assert found.variants[0].prompt == " Tell me. "
    assert read({**ITEM, "id": 7}).items[0].id == "7"


def test_a_wording_that_repeats_another_one_is_counted():
    twice = [*ITEM["variants"], {"language": "en", "prompt": "Say. "}]
    assert read({**ITEM, "variants": twice}).n_repeated == 1
    other = [*ITEM["variants"], {"language": "sv", "prompt": "Say."}]
    assert read({**ITEM, "variants": other}).n_repeated == 0


def test_every_bad_item_is_told_with_its_line():
    found = problems(
        ITEM,  # lines 6 to 19
        {"variation": "style", "variants": []},
        {**ITEM, "variants": [{"language": "en"}, {"prompt": "x", "language": ""}, "text"]},
    )
    assert [(one.line, one.code, one.values["what"]) for one in found] == [
        (20, "prompt_key_missing", "item 2 of the list"),
        (20, "no_variants", "item 2 of the list"),
        (28, "prompt_key_missing", "variant 1 of item 001"),
        (31, "prompt_key_empty", "variant 2 of item 001"),
        (24, "variant_no_object", "variant 3 of item 001"),
    ]
    assert [one.values["key"] for one in (found[0], *found[2:4])] == ["id", "prompt", "language"]


def test_an_id_that_stands_there_twice_is_refused_with_both_lines():
    (found,) = problems(ITEM, {**ITEM})
    check_problem(found, "item_twice", line=20, column="id", item="001", first_line=6)


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("[]", "no_top_object", {"found": "no object"}),
        ('{"items": []}', "no_top_object", {"found": "items"}),
        ('{"eloquent-robustness-test": {"items": []}}', "no_items", {}),
        ('{"eloquent-robustness-test": {"items": {}}}', "no_items", {}),
        (
            '{"eloquent-robustness-test": {"items": [3]}}',
            "entry_no_object",
            {"what": "item 1 of the list"},
        ),
    ],
)
def test_another_layout_is_refused_with_the_right_one(text, code, values):
    with pytest.raises(InputError) as caught:
        read_prompts(make_bytes_source("prompts.json", text.encode()))
    found = only_problem(caught.value)
    check_problem(found, code, **values)
    assert '"items": [' in found.remedy
