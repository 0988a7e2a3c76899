"""Each door's sentences about options: what is refused, and what differs from the defaults."""

import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import API, SITE, TERMINAL, build_problem
from evaluation.runs.run_types import list_run_kinds
from tests.evaluation.core.options.every_option import EveryOption


def test_each_door_has_its_sentence_for_an_option_that_would_not_be_used():
    idle = build_problem("only_with", "seed", other="order", wanted="drawn")
    assert TERMINAL.format_problem(EveryOption, idle) == "--seed is only used with --order drawn"
    assert SITE.format_problem(EveryOption, idle) == "“Seed” is only used with “Order: by lot”"
    assert API.format_problem(EveryOption, idle) == "seed is only used with order drawn"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"aggregation": "majority"},
            (
                "--aggregation majority counts words and needs --embedder bow",
                "“How answers become the exemplary one: weighted majority of each word” counts",
                "aggregation majority counts words and needs embedder bow",
            ),
        ),
        (
            {"camps": True, "anchors": True},
            (
                "--camps takes several answers for right, --anchors and --suggest-anchors look",
                "“Several right answers” takes several answers for right, “Use experts' grades”",
                "camps takes several answers for right, anchors and suggest_anchors look",
            ),
        ),
        (
            {"nli": "model", "facts": False},
            (
                "--nli would not be used: it reads --facts, or first weights by --init entailment",
                "“Entailment model” would not be used: it reads “Facts”, or first weights by",
                "nli would not be used: it reads facts, or first weights by init entailment",
            ),
        ),
    ],
)
def test_each_door_tells_a_contradiction_in_its_words(values, told):
    [found] = AqerParameters(**values).find_problems()
    for words, beginning in zip((TERMINAL, SITE, API), told, strict=True):
        assert words.format_problem(AqerParameters, found).startswith(beginning)


@pytest.mark.parametrize(
    ("kind", "changed", "told"),
    [
        ("aqer", {}, []),
        ("aqer", {"leave_one_out": True, "seed": 3}, ["leave one out", "seed 3"]),
        ("aqer", {"embedder": "tfidf-word"}, ["Words, weighted by rarity (TF-IDF)"]),
        ("aqer", {"embedder": "sentence-transformers:x"}, ["sentence-transformers:x"]),
        ("aqer", {"precision": "bfloat16"}, ["precision bfloat16"]),
        ("aqer", {"exclude_workers": ["w07"]}, ["without w07"]),
        ("aqer", {"exclude_workers": list("abcde")}, ["without a, b, c and 2 more"]),
        ("aqer", {"spelling": "de"}, ["spelling corrected (de)"]),
        ("aqer", {"weight_cap": 0.1}, ["most weight of a worker 0.1"]),
        ("aqer", {"gone": 1}, []),
        ("multiqa", {"crowd": False}, ["compute the crowd score: no"]),
        ("ask", {"models": ["id of one"], "temperature": 0}, ["models small", "temperature 0"]),
        ("ask", {"models": ["x"]}, ["models one that is gone"]),
        ("judge", {"judge": "id of one"}, ["judge small"]),
        (
            "eloquent",
            {"told": "Be brief. " * 9},
            ["system message Be brief. Be brief. Be brief. Be brief. Be brief. Be brief.…"],
        ),
    ],
)
def test_what_differs_is_told_in_a_few_words_with_names_for_ids(kind, changed, told):
    options = list_run_kinds()[kind].options
    assert options.summarize_changes(changed, {"id of one": "small"}) == told
