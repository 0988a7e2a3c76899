"""MultiQ&A with real cross-encoders, tiny and at random: what they say is what is done."""

import csv
import json

import numpy as np
import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.cross_encoders import logits, save_cross_encoder
from tests.evaluation.multiqa.test_evaluate import write, write_replies

QUESTION = "what makes a river bend ?"
REWORDINGS = [
    "why does a river bend ?",
    "a river bends because of what ?",
    "what is the reason for a river to bend ?",
    "how come that a river does bend ?",
    "what bends a river ?",
    "for what reason is there a bend in a river ?",
    "which thing makes the river bend ?",
    "bend a river how ?",
]
LABELS = ["contradiction", "entailment", "neutral"]
ITEM = {"item": "q", "kind": "free", "question": QUESTION, "answers": '["the current does"]'}
ANSWERS = ["the current", "the current does it", "the water current", "it is the current there"]
SAME = ("--embedder", "tfidf-char", "--cluster-cosine", "0.01", "--bootstrap", "0")


def rows(folder, name):
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def softmax(row):
    powers = [np.exp(one) for one in row]
    return powers[1] / sum(powers)  # of LABELS[1]


def study(folder, items, replies, *more):
    given = write(folder / "given.csv", items)
    script = folder / "script.csv"
    with script.open("w", newline="") as file:
        csv.writer(file).writerows([("question", "reply"), *replies.items()])
    return manage(
        *("study", "multiqa", given, "--model", f"replies:{script}", "--output", folder / "out"),
        *("--meaning", "0", *SAME, *more),
    )


def test_rewordings_are_kept_as_the_models_logits_say_both_ways(tmp_path):
    nli = save_cross_encoder(tmp_path / "nli", [QUESTION, *REWORDINGS], LABELS)
    there = [softmax(row) for row in logits(nli, [(QUESTION, one) for one in REWORDINGS])]
    back = [softmax(row) for row in logits(nli, [(one, QUESTION) for one in REWORDINGS])]
    both = np.minimum(there, back)
    # Half of them are above the bound both ways; some of the others are one way.
    lower, upper = sorted(both)[3:5]
    bound = round((lower + upper) / 2, 6)
    kept = [one for one, least in zip(REWORDINGS, both, strict=True) if least >= bound]
    assert len(kept) == 4
    assert ((both < bound) & (np.maximum(there, back) >= bound)).any()
    assert np.abs(both - bound).min() > 1e-4  # none so near that rounding decides

    numbered = "\n".join(f"{n}. {text}" for n, text in enumerate(REWORDINGS, 1))
    replies = {f"q|reword|{attempt}": numbered for attempt in (1, 2, 3)}
    replies |= {f"q|{variant}": "the current" for variant in range(len(kept) + 1)}
    ran = study(
        tmp_path, [ITEM], replies, "--rewordings", len(REWORDINGS),
        "--nli", nli, "--entailment", bound,
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    first = [row for row in rows(tmp_path / "out", "rewordings.csv") if row["attempt"] == "1"]
    assert [row["variant_text"] for row in first] == REWORDINGS
    assert [row["variant_text"] for row in first if row["variant"]] == kept
    assert {row["reason"] for row in first if not row["variant"]} == {"not_entailed"}
    told = [float(row["entailment"]) for row in first]
    np.testing.assert_allclose(told, both, atol=1e-5)
    asked = [row["variant_text"] for row in rows(tmp_path / "out", "replies.csv")]
    assert asked == [QUESTION, *kept]
    assert summary(tmp_path / "out")["rewordings"]["entailment_model"] == str(nli)


def evaluated(folder, *more, item=ITEM, answers=ANSWERS):
    replies = [("q", variant, text, "") for variant, text in enumerate(answers)]
    out = folder / ("again" if more else "out")
    ran = manage(
        *("evaluate", "multiqa", write(folder / "given.csv", [item])),
        *("--replies", write_replies(folder / "replies.csv", replies), "--output", out),
        *(*SAME, *more),
    )
    assert ran.code == 0, ran.err
    return out, ran


@pytest.fixture
def scores(tmp_path):
    return save_cross_encoder(tmp_path / "scores", [QUESTION, *ANSWERS], ["score"])


def test_the_text_with_the_greatest_score_beside_the_question_stands_for_its_cluster(
    tmp_path, scores
):
    by_itself = logits(scores, [(QUESTION, text) for text in ANSWERS])[:, 0]
    best = ANSWERS[int(np.argmax(by_itself))]
    plain, _ = evaluated(tmp_path)
    again, _ = evaluated(tmp_path, "--reranker", scores)
    (before,), (after,) = rows(plain, "items.csv"), rows(again, "items.csv")
    assert float(before["agreement"]) == float(after["agreement"]) == 1  # one cluster
    assert after["modal_reply"] == best != before["modal_reply"]
    told = summary(again)
    revision = told["reranking"]["revision"]
    assert told["reranking"] == {
        "model": str(scores), "revision": revision, "scored": 4, "without_question": 0,
    }  # fmt: skip
    assert f"|reranker:{scores}|reranker_revision:{revision}|" in told["signature"]
    # Without the option nothing of it is told.
    assert "reranking" not in summary(plain)
    assert "reranker" not in summary(plain)["signature"]


def test_each_cluster_has_its_own_and_equal_texts_need_no_score(tmp_path, scores):
    answers = ["zzz", "the current", "the current does it", "zzz"]
    again, _ = evaluated(tmp_path, "--reranker", scores, answers=answers)
    assert summary(again)["reranking"]["scored"] == 2
    assert rows(again, "items.csv")[0]["modal_reply"] == "zzz"


def test_without_a_question_the_nearest_to_the_centre_stands_and_it_is_said(
    tmp_path, scores, rendered_messages
):
    item = {**ITEM, "question": ""}
    plain, _ = evaluated(tmp_path, item=item)
    again, _ = evaluated(tmp_path, "--reranker", scores, item=item)
    assert (again / "items.csv").read_text() == (plain / "items.csv").read_text()
    assert summary(again)["reranking"]["without_question"] == 1
    assert ("reranked_without_question", 1) in [
        (message.code, message.values.get("count")) for message in rendered_messages
    ]


def test_where_nothing_goes_by_meaning_the_reranker_is_idle_and_it_is_said(
    tmp_path, rendered_messages
):
    item = {**ITEM, "matcher": "exact"}
    again, _ = evaluated(tmp_path, "--reranker", "nobody/no-such-model", item=item)
    assert "reranked_nothing" in {message.code for message in rendered_messages}
    assert "reranking" not in summary(again)


def test_a_reranker_that_is_not_there_is_refused_before_anybody_is_asked(tmp_path):
    ran = study(tmp_path, [ITEM], {}, "--reranker", tmp_path / "nowhere")
    assert ran.code == 2
    assert f"no folder {tmp_path / 'nowhere'}" in ran.err
    assert not (tmp_path / "out" / "requests.jsonl").exists()
