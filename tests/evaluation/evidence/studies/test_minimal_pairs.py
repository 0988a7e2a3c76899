"""The minimal pairs, what cosine makes of them, and the warning that rests on it."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from evaluation.core.options import TERMINAL
from evaluation.core.text.quality import (
    MINIMAL_PAIRS_AUC,
    compute_short_share,
    find_short_answer_warning,
    is_short_answer,
)
from evaluation.evidence.studies.minimal_pairs import (
    KINDS,
    PairCosines,
    build_harder_pairs,
    compute_cosines,
    count_contradictions,
    list_pair_texts,
    load_minimal_pairs,
)
from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import evaluate, manage

WORD = re.compile(r"\w+")


class TestPairs:
    def test_there_are_fifty_of_each_kind_over_several_domains(self):
        pairs = load_minimal_pairs()
        assert Counter(pair.kind for pair in pairs) == dict.fromkeys(KINDS, 50)
        assert len({pair.domain for pair in pairs}) >= 8
        assert len({pair.id for pair in pairs}) == 200

    def test_no_sentence_stands_there_twice(self):
        texts = list_pair_texts(load_minimal_pairs())
        assert len(texts) == len(set(texts)) == 600

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_minimal_change_is_one_place_of_the_sentence(self, kind):
        for pair in load_minimal_pairs():
            if pair.kind != kind:
                continue
            old, new = pair.original.split(), pair.changed.split()
            before = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
            after = next(
                i for i, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b
            )
            assert max(len(old), len(new)) - before - after <= 3, pair

    @pytest.mark.parametrize("kind", ["year", "name", "number"])
    def test_a_paraphrase_keeps_the_fact_in_other_words(self, kind):
        for pair in load_minimal_pairs():
            if pair.kind != kind:
                continue
            old, new = (WORD.findall(text) for text in (pair.original, pair.changed))
            said = {word.lower() for word in WORD.findall(pair.paraphrase)}
            gone = [word.lower() for word in old if word not in new]
            come = [word.lower() for word in new if word not in old]
            assert set(gone) <= said, pair
            assert not set(come) & said, pair


class TestHarderPairs:
    def test_the_wrong_fact_stands_in_the_paraphrase_and_nothing_else_changes(self):
        found = build_harder_pairs(load_minimal_pairs())
        assert Counter(pair.kind for pair in found) == {"year": 50, "name": 50, "number": 50}
        for pair in found:
            old, new = (text.split() for text in (pair.paraphrase, pair.changed))
            assert old != new
            same = sum((Counter(old) & Counter(new)).values())
            assert max(len(old), len(new)) - same <= 3, pair

    def test_a_sentence_begins_with_a_capital_whatever_it_says(self):
        (pair,) = (
            pair for pair in load_minimal_pairs() if pair.paraphrase.startswith("Eight bits")
        )
        (harder,) = build_harder_pairs([pair])
        assert harder.changed == "Four bits together make up one byte."


class TestFacts:
    def test_a_wrong_year_contradicts_four_who_say_another_and_other_words_do_not(self):
        pair = load_minimal_pairs()[0]
        assert (pair.original.count("1867"), pair.changed.count("1876")) == (1, 1)
        both = [pair, replace(pair, id="b", changed=pair.original)]
        found = count_contradictions(both)
        assert found.paraphrase.tolist() == [0, 0]
        assert found.changed.tolist() == [1, 0]
        # One change is above both paraphrases, the other one ties with both.
        assert found.auc == 0.75
        assert found.flagged == (0, 1)

    @pytest.mark.long
    def test_what_evidence_says_of_facts(self):
        pairs = load_minimal_pairs()
        found = {
            name: {
                kind: some.select_pairs([pair.kind == kind for pair in chosen])
                for kind in ("year", "name", "number")
            }
            for name, chosen in (("minimal", pairs), ("harder", build_harder_pairs(pairs)))
            for some in [count_contradictions(chosen)]
        }
        assert {kind: one.auc for kind, one in found["minimal"].items()} == {
            "year": 1.0,
            "name": pytest.approx(0.91),
            "number": 1.0,
        }
        assert {kind: one.auc for kind, one in found["harder"].items()} == {
            "year": 1.0,
            "name": pytest.approx(0.90),
            "number": pytest.approx(0.99),
        }
        assert count_contradictions(pairs).flagged == (0, 141)


class TestCosines:
    def test_a_change_that_is_nearer_than_the_paraphrase_counts_against_it(self):
        pair = load_minimal_pairs()[0]
        pairs = [pair, replace(pair, id="b")]
        # Originals (1, 0) and (0, 2); paraphrases at 1 and 0; changes at 0.6 and 0.8.
        x = np.array([[1, 0], [0, 2], [3, 0], [1, 0], [0.6, 0.8], [0.6, 0.8]])
        found = compute_cosines(pairs, x)
        assert found.paraphrase == pytest.approx([1.0, 0.0])
        assert found.changed == pytest.approx([0.6, 0.8])
        # 1 is above both changes, 0 above none.
        assert found.auc == 0.5
        assert found.paired == 0.5
        assert found.select_pairs([True, False]).auc == 1.0

    def test_ties_count_half(self):
        assert PairCosines(np.array([0.5]), np.array([0.5])).paired == 0.5


@pytest.mark.long
def test_the_command_writes_a_row_for_each_embedder_and_kind(tmp_path, monkeypatch):
    from evaluation.evidence.studies import minimal_pairs

    monkeypatch.setattr(minimal_pairs, "EMBEDDERS", ("bow", "tfidf-word"))
    out = tmp_path / "out"
    ran = manage(
        *("reproduce", "minimal-pairs", "--data", tmp_path, "--output", out),
        "--embedder=tfidf-char",
    )
    assert (ran.code, ran.err) == (0, "")
    rows = table(out / "auc.csv")
    assert header_of(out / "auc.csv") == ["embedder", "kind", "auc", "n"]
    assert [(row["embedder"], row["kind"]) for row in rows] == [
        (spec, kind)
        for spec in ("bow", "tfidf-word", "tfidf-char", "facts")
        for kind in (*KINDS, "all")
    ]
    assert [row["n"] for row in rows[:5]] == ["50", "50", "50", "50", "200"]
    assert len(table(out / "pairs.csv")) == 600
    assert (out / "auc.svg").exists()
    assert summary_of(out)["pairs"] == 200
    # Words in common say "the same" of what differs in one fact.
    assert all(float(row["auc"]) < 0.1 for row in rows[:15])
    # Negations are no facts, and their paraphrases lack the words that were changed.
    harder = table(out / "harder.csv")
    assert [row["kind"] for row in harder if row["embedder"] == "facts"] == [*KINDS[:3], "all"]
    assert [tuple(row.values()) for row in table(out / "flagged.csv")][4::4] == [
        ("minimal", "all", "0", "141", "200"),
        ("harder", "all", "0", "139", "150"),
    ]


@pytest.mark.model
@pytest.mark.long
def test_the_figures_of_the_warning_are_measured(tmp_path):
    ran = manage("reproduce", "minimal-pairs", "--data", tmp_path, "--output", tmp_path / "out")
    assert ran.code == 0
    found = {
        row["embedder"]: float(row["auc"])
        for row in table(tmp_path / "out/auc.csv")
        if row["kind"] == "all" and row["embedder"] != "facts"
    }
    assert found == pytest.approx(MINIMAL_PAIRS_AUC, abs=0.005)


class TestWarning:
    @pytest.mark.parametrize(
        "text",
        [
            *("1969", "yes", "Neil Armstrong", "about 12 km", "3.5, 4.5 and 6,000", " no. "),
            *("12:30", "東京", "the left one", "1867 or 1876, 1899 perhaps"),
        ],
    )
    def test_short_or_numeric(self, text):
        assert is_short_answer(text)

    @pytest.mark.parametrize(
        "text",
        [
            "the moon pulls at the water",
            "in 1969 two people walked there",
            "月が水を引くからです",
            "a" * 61,
        ],
    )
    def test_long_enough(self, text):
        assert not is_short_answer(text)

    def test_it_comes_when_more_than_half_are_short(self):
        short, long = "in 1969", "the moon pulls at the water of the sea"
        assert compute_short_share([short, short, long, long]) == 0.5
        assert find_short_answer_warning([short, short, long, long], "minilm") is None
        found = find_short_answer_warning([short, short, short, long], "minilm")
        auc = MINIMAL_PAIRS_AUC["minilm"]
        values = {"share": 0.75, "embedder": "minilm", "auc": auc}
        assert (found.code, found.values) == ("short_answers", values)
        assert {"(75%),", f"{auc:.0%}"} <= set(TERMINAL.format_message(found).split())
        assert find_short_answer_warning([], "minilm") is None

    def test_it_cites_the_runs_own_embedder_where_that_was_measured(self):
        texts = ["yes"] * 3
        assert "tfidf-word prefers" in TERMINAL.format_message(
            find_short_answer_warning(texts, "tfidf-word")
        )

    @pytest.mark.parametrize("embedder", ["precomputed:x.npz", "openai:m@http://127.0.0.1/v1"])
    def test_it_cites_no_figure_where_nothing_was_measured(self, embedder):
        found = find_short_answer_warning(["yes"] * 3, embedder)
        assert (found.code, found.values) == ("short_answers_unmeasured", {"share": 1.0})

    def test_a_graded_file_of_years_gets_it(self, tmp_path):
        lines = ["worker,question,answer"]
        lines += [f"w{w},q{q},{1900 + q + (w == 3)}" for w in range(4) for q in range(6)]
        (tmp_path / "a.csv").write_text("\n".join(lines))
        ran = evaluate(
            *(tmp_path / "a.csv", "--output", tmp_path / "out", "--embedder=tfidf-char"),
            "--bootstrap=0",
        )
        assert ran.code == 0, ran.err
        (found,) = (w for w in summary_of(tmp_path / "out")["warnings"] if "numeric" in w)
        assert "(100%)" in found
        assert "tfidf-char" in found
