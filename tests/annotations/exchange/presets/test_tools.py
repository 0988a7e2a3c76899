"""Shapes of annotation tools, experiment programs and hubs, each with its right values."""

import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.presets import (
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
)
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import raises_problem

MOON, LAG, NEAP = "The Moon pulls the water up", "The far side is pulled less", "A small tide"
CAUSE, BULGE = "What causes ocean tides?", "Why is there a second bulge?"
BOTH = {("ana", "1"): MOON, ("ben", "1"): NEAP, ("ana", "2"): LAG}
OWN = [
    {"worker": "ana", "question": "1", "answer": MOON},
    {"worker": "ben", "question": 1, "answer": NEAP},
    {"worker": "ana", "question": "2", "answer": LAG},
]


def answers(*pairs):
    return [{"value": text, "user_id": user, "status": how} for user, text, how in pairs]


ARGILLA = [
    {
        "id": "1",
        "fields": {"asked": CAUSE},
        "metadata": {},
        "suggestions": {"answer": {"value": "x y z", "score": 0.5}},
        "responses": {
            "answer": answers(
                ("ana", MOON, "submitted"), ("ben", NEAP, "submitted"), ("cem", LAG, "draft")
            )
        },
    },
    {
        "id": "2",
        "fields": {"asked": BULGE},
        "responses": {"answer": answers(("ana", LAG, "submitted"))},
    },
]
ARGILLA_V1 = [
    {
        "id": "1",
        "fields": {"asked": CAUSE},
        "responses": [
            {"user_id": "ana", "status": "submitted", "values": {"answer": {"value": MOON}}},
            {"user_id": "ben", "status": "submitted", "values": {"answer": {"value": NEAP}}},
        ],
    },
    {
        "id": "2",
        "fields": {"asked": BULGE},
        "responses": [
            {"user_id": "ana", "status": "submitted", "values": {"answer": {"value": LAG}}},
            {"user_id": "ben", "status": "discarded", "values": {"answer": {"value": MOON}}},
        ],
    },
]
ARGILLA_FLAT = [
    {
        "id": "1",
        "asked": CAUSE,
        "answer.responses": [MOON, NEAP],
        "answer.responses.users": ["ana", "ben"],
        "answer.responses.status": ["submitted", "submitted"],
    },
    {
        "id": "2",
        "asked": BULGE,
        "answer.responses": [LAG],
        "answer.responses.users": ["ana"],
        "answer.responses.status": ["submitted"],
    },
]
ARGILLA_HUB = [
    {
        "external_id": "1",
        "asked": CAUSE,
        "answer": answers(("ana", MOON, "submitted"), ("ben", NEAP, "submitted")),
    },
    {"external_id": "2", "asked": BULGE, "answer": answers(("ana", LAG, "submitted"))},
]
DOCCANO = [
    {"id": 1, "text": CAUSE, "label": [MOON], "Comments": []},
    {"id": 2, "text": BULGE, "label": [LAG], "Comments": []},
]
DOCCANO_OLD = [
    {"id": 1, "text": CAUSE, "annotations": [{"text": MOON, "user": 7}, {"text": NEAP, "user": 8}]},
    {"id": 2, "text": BULGE, "annotations": [{"text": LAG, "user": 7}], "meta": {}},
]
STATE = {
    "user_id": "ana",
    "instance_id_ordering": ["1", "2"],
    "instance_id_to_label_to_value": {
        "1": [[{"schema": "why", "name": "text_box"}, MOON]],
        "2": [[{"schema": "why", "name": "text_box"}, LAG]],
    },
    "instance_id_to_span_to_value": {},
}
STATE_OF_MAPS = {
    **STATE,
    "instance_id_to_label_to_value": {
        "1": {"why": {"text_box": MOON}},
        "2": {"why": {"text_box": LAG}},
    },
}
PSITURK = f"AA:1,1,{MOON}\nAA:1,2,{LAG}\nBB:2,1,\nBB:2,2,{NEAP}\n"
PSITURK_TRIALS = "".join(
    f'{who},0,1760000000000,"{json.dumps(data).replace(chr(34), chr(34) * 2)}"\n'
    for who, data in (
        ("AA:1", {"phase": "TEST", "question": "1", "response": MOON}),
        ("AA:1", {"phase": "INSTRUCTIONS", "template": "a.html"}),
        ("BB:2", {"phase": "TEST", "question": "1", "response": NEAP}),
    )
)


def trial(who, kind, response, item="", **more):
    return {
        "trial_type": kind,
        "trial_index": 0,
        "time_elapsed": 9,
        "subject_id": who,
        "item": item,
        "response": response,
    } | more


TRIALS = [
    trial("ana", "html-keyboard-response", None),
    trial("ana", "survey-text", {"Q0": MOON}, "1"),
    trial("ana", "survey-text", {"Q0": LAG}, "2"),
    trial("ana", "survey-html-form", {"age": "31"}),
    trial("ben", "survey-text", {"Q0": NEAP}, "1"),
]
TRIALS_V6 = [
    {key: one for key, one in row.items() if key not in ("response", "item")}
    | {"responses": json.dumps(row["response"])}
    for row in (
        trial("ana", "survey-text", {"1": MOON, "2": LAG}),
        trial("ben", "survey-text", {"1": NEAP}),
    )
]
OTREE = (
    "participant.code,participant.label,participant._index_in_pages,session.code,"
    "tides.1.player.id_in_group,tides.1.player.cause,tides.1.player.age,tides.1.player.payoff\n"
    f"abc,ana,9,s1,1,{MOON},31,0\ndef,ben,9,s1,2,{NEAP},40,0\nghi,,0,s1,3,,,\n"
)
OTREE_APP = (
    "participant.code,player.id_in_group,player.why,subsession.round_number\n"
    f"ana,1,{MOON},1\nben,1,{NEAP},1\nana,1,{LAG},2\n"
)


def json_file(name, value):
    return name, json.dumps(value, indent=1)


def lines(name, rows):
    return name, "".join(f"{json.dumps(row)}\n" for row in rows)


HUB = {"features": [], "rows": [{"row_idx": 0, "row": row, "truncated_cells": []} for row in OWN]}
ALSO = {"ana": {"1": MOON, "2": LAG}, "ben": {"1": NEAP}}
HUB_ENTRIES = [
    {
        "id": "1",
        "prompt": CAUSE,
        "annotations": [{"annotator": "ana", "answer": MOON}, {"annotator": "ben", "answer": NEAP}],
    },
    {"id": "2", "prompt": BULGE, "annotations": [{"annotator": "ana", "answer": LAG}]},
]
HUB_LISTS = [
    {"id": "1", "question": CAUSE, "answers": [MOON, NEAP], "annotator_ids": ["ana", "ben"]},
    {"id": "2", "question": BULGE, "answers": [LAG], "annotator_ids": ["ana"]},
]
CASES = [
    (json_file("a.json", OWN), "own", BOTH, "", 0),
    (json_file("a.json", HUB), "own", BOTH, "", 0),
    (
        json_file("a.json", [{"worker": who, "answers": said} for who, said in ALSO.items()]),
        "long",
        BOTH,
        "",
        0,
    ),
    (lines("a.jsonl", HUB_ENTRIES), "long", BOTH, CAUSE, 0),
    (json_file("a.json", HUB_LISTS), "long", BOTH, CAUSE, 0),
    (json_file("a.json", ARGILLA), "argilla", BOTH, CAUSE, 1),
    (lines("a.jsonl", ARGILLA), "argilla", BOTH, CAUSE, 1),
    (json_file("a.json", ARGILLA_V1), "argilla", BOTH, CAUSE, 1),
    (json_file("a.json", ARGILLA_FLAT), "argilla", BOTH, CAUSE, 0),
    (json_file("a.json", ARGILLA_HUB), "argilla", BOTH, CAUSE, 0),
    (
        json_file("a.json", {"rows": [{"row": row} for row in ARGILLA_HUB]}),
        "argilla",
        BOTH,
        CAUSE,
        0,
    ),
    (lines("ana.jsonl", DOCCANO), "doccano", {("ana", "1"): MOON, ("ana", "2"): LAG}, CAUSE, 0),
    (json_file("ana.json", DOCCANO), "doccano", {("ana", "1"): MOON, ("ana", "2"): LAG}, CAUSE, 0),
    (
        ("ana.csv", f"id,text,label,Comments\n1,{CAUSE},{MOON},[]\n2,{BULGE},{LAG},[]\n"),
        "doccano",
        {("ana", "1"): MOON, ("ana", "2"): LAG},
        CAUSE,
        0,
    ),
    (
        lines("all.jsonl", DOCCANO_OLD),
        "doccano",
        {("7", "1"): MOON, ("8", "1"): NEAP, ("7", "2"): LAG},
        CAUSE,
        0,
    ),
    (json_file("u.json", STATE), "potato", {("ana", "1"): MOON, ("ana", "2"): LAG}, "", 0),
    (
        json_file("u.json", [STATE_OF_MAPS]),
        "potato",
        {("ana", "1"): MOON, ("ana", "2"): LAG},
        "",
        0,
    ),
    (
        ("q.csv", PSITURK),
        "psiturk",
        {("AA:1", "1"): MOON, ("AA:1", "2"): LAG, ("BB:2", "1"): "", ("BB:2", "2"): NEAP},
        "",
        0,
    ),
    (("t.csv", PSITURK_TRIALS), "psiturk", {("AA:1", "1"): MOON, ("BB:2", "1"): NEAP}, "", 1),
    (json_file("j.json", TRIALS), "jspsych", BOTH, "", 2),
    (json_file("j.json", [TRIALS[:4], TRIALS[4:]]), "jspsych", BOTH, "", 2),
    (json_file("j.json", TRIALS_V6), "jspsych", BOTH, "", 0),
    (
        ("o.csv", OTREE),
        "otree",
        {("ana", "tides.1.player.cause"): MOON, ("ben", "tides.1.player.cause"): NEAP},
        "",
        1,
    ),
    (
        ("o.csv", OTREE.replace("ben", "")),
        "otree",
        {("abc", "tides.1.player.cause"): MOON, ("def", "tides.1.player.cause"): NEAP},
        "",
        1,
    ),
    (("o.csv", OTREE_APP), "otree", BOTH, "", 0),
]


USERS = {who: f"3270e111-a9f3-4cb4-8730-ed06ce306fd{n}" for n, who in enumerate(("ana", "ben"))}
BY_USER = {(USERS[who], question): text for (who, question), text in BOTH.items()}
ARGILLA_BY_USER = [
    {
        "external_id": "1",
        "asked": CAUSE,
        "answer.suggestion": "x y z",
        "answer.suggestion.score": None,
        f"answer.response.{USERS['ana']}": MOON,
        f"answer.response.{USERS['ben']}": NEAP,
    },
    {
        "external_id": "2",
        "asked": BULGE,
        "answer.suggestion": None,
        f"answer.response.{USERS['ana']}": LAG,
        f"answer.response.{USERS['ben']}": None,
    },
]
COMPLETIONS = [
    {
        "id": number,
        "data": {"asked": asked},
        "completions": [
            {
                "id": f"{number}{who}",
                "completed_by": who,
                "result": [{"from_name": "answer", "type": "textarea", "value": {"text": [text]}}],
            }
            for who, text in said
        ],
    }
    for number, asked, said in (
        ("1", CAUSE, (("ana", MOON), ("ben", NEAP))),
        ("2", BULGE, (("ana", LAG),)),
    )
]
CHOSEN = {("ana", "i1"): "moon", ("ben", "i1"): "moon\nsun", ("ana", "i2"): "sun"}


def choices(tick):
    """Potato's columns of one schema, with a cell for each label: its name, or a tick."""
    header = ["user", "instance_id", "displayed_text", "cause:::moon", "cause:::sun", "sure:::1"]
    header += ["sure:::2"]
    table = [
        [who, item, CAUSE if item == "i1" else BULGE, *(
            (tick or label) if label in chosen.split() else "" for label in ("moon", "sun")
        ), "", "2"]
        for (who, item), chosen in CHOSEN.items()
    ]  # fmt: skip
    return "\n".join("\t".join(row) for row in [header, *table])


CHOICE_LINES = [
    {
        "user_id": who,
        "instance_id": item,
        "displayed_text": CAUSE if item == "i1" else BULGE,
        "label_annotations": {"cause": {label: label for label in chosen.split()}},
        "span_annotations": {},
    }
    for (who, item), chosen in CHOSEN.items()
]
CASES += [
    (json_file("a.json", ARGILLA_BY_USER), "argilla", BY_USER, CAUSE, 0),
    (json_file("a.json", {"items": ARGILLA_V1, "total": 2}), "argilla", BOTH, CAUSE, 1),
    (json_file("l.json", COMPLETIONS), "label-studio", BOTH, CAUSE, 0),
    (("p.tsv", choices("")), "potato", CHOSEN, CAUSE, 0),
    (("p.tsv", choices("1")), "potato", CHOSEN, CAUSE, 0),
    (lines("p.jsonl", CHOICE_LINES), "potato", CHOSEN, CAUSE, 0),
]


def read(name, content, *, refuses=False):
    source = make_bytes_source(name, content.encode())
    head = read_head(source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source)
    if refuses:
        refuse_incomplete_mapping(preset, mapping, head)
    rows = open_answer_rows(source, preset, mapping)
    records = [record for record, _ in rows]
    rows.raise_problems()
    return preset.slug, rows, records


@pytest.mark.parametrize(("file", "slug", "right", "wording", "n_left_out"), CASES)
def test_an_export_is_read_as_what_its_tool_means(file, slug, right, wording, n_left_out):
    found, rows, records = read(*file)
    assert found == slug
    assert {(one.worker, one.question): one.text for one in records} == right
    assert next(iter(rows.questions.values())).text == wording
    assert sum(getattr(rows, "skipped", {}).values()) == n_left_out


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (lines("all.jsonl", DOCCANO), "doccano_nobody"),
        (lines("ana.jsonl", [{"id": 1, "text": "a", "label": [[0, 1, "P"]]}]), "doccano_spans"),
        (
            lines("ana.jsonl", [{"id": 1, "text": "a", "entities": [], "relations": []}]),
            "doccano_spans",
        ),
        (json_file("a.json", {"rows": [{"row": {}, "truncated_cells": ["a"]}]}), "hub_cells_cut"),
        (
            ("e.csv", "AA:1,focus,0,1,1760000000000\nAA:1,focus,0,1,1760000000001\n"),
            "psiturk_events",
        ),
        (json_file("a.json", {"ana": {"q1": "a"}}), "not_object_list"),
        (
            json_file(
                "j.json",
                [trial("ana", "survey-text", {"Q0": text}, item=None) for text in (MOON, LAG)],
            ),
            "rows_left_out",
        ),
    ],
)
def test_a_shape_that_does_not_say_who_answered_what_is_refused_by_name(file, code):
    with raises_problem(code):
        read(*file)


def test_trials_without_items_whose_texts_have_one_name_are_refused():
    rows = [trial("ana", "survey-text", {"Q0": text}) for text in (MOON, LAG)]
    for row in rows:
        del row["item"]
    with raises_problem("trials_alike"):
        read(*json_file("j.json", rows))


@pytest.mark.parametrize(
    ("file", "what"),
    [
        (json_file("j.json", [trial("", "survey-text", {"Q0": MOON}, "1")]), "worker"),
        (("o.csv", "participant.code,tides.1.player.age\na,31\nb,32\n"), "answers"),
    ],
)
def test_a_column_that_a_tool_does_not_have_is_asked_for(file, what):
    name, content = file
    with pytest.raises(InputError) as caught:
        read(name, content.replace("subject_id", "somebody"))
    [problem] = caught.value.problems
    assert (problem.code, problem.values["what"]) == ("mapped_column_unnamed", what)


def test_a_list_of_our_own_columns_has_the_lines_of_its_objects():
    content = json.dumps([*OWN, {"worker": "", "question": "1", "answer": "x"}], indent=1)
    with pytest.raises(InputError) as caught:
        read("a.json", content)
    assert [(one.line, one.code) for one in caught.value.problems] == [(17, "id_missing")]
