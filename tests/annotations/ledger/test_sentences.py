"""Each sentence about decisions, amounts and payments, once, by its code."""

from annotations.exchange.sentences import AMOUNTS
from annotations.exchange.sentences import DECISIONS as WRONG
from annotations.ledger.appeals import NOT_STORED_REASONS
from annotations.ledger.sentences import DECISIONS, LISTS, PARTS, PAYMENTS, SENDING

AMOUNT_CASES = [
    (
        "not_an_amount",
        {"text": "1,50"},
        "'1,50' is no amount: write it with a point and at most two places, such as 1.50",
    ),
    (
        "out_of_range",
        {"amount": "0.00", "least": "0.01", "most": 10_000},
        "0.00 is no bonus: it goes from 0.01 to 10,000.00",
    ),
]
WRONG_CASES = [
    ("decision_missing", {"text": ""}, "the decision is missing"),
    ("decision_unknown", {"text": "perhaps"}, "'perhaps' is no decision"),
    ("reason_not_text", {}, "there is a character in it that is no text"),
    ("reason_too_long", {"n": 1001, "most": 1000}, "it has 1,001 characters, more than 1,000"),
    (
        "reason_too_short",
        {"least": 100, "n": 99},
        "a rejection needs a reason of at least 100 characters, and this has 99",
    ),
    ("category_not_allowed", {}, "a category belongs to a rejection only"),
    ("category_missing", {"text": ""}, "a rejection needs a category"),
    ("category_unknown", {"text": "AI"}, "'AI' is no category of a rejection"),
]
PAYMENT_CASES = [
    (
        "other_amount",
        {"name": "ada", "amount": "1.00", "round": "bonus", "state": "planned"},
        "ada has a bonus of 1.00 in the round bonus already, which is planned",
    ),
    (
        "other_currency",
        {"round": "bonus", "there": "GBP", "now": "JPY"},
        "the round bonus has payments in GBP, and the collection pays in JPY: take another round, "
        "or cancel those first",
    ),
    (
        "several_currencies",
        {"currencies": "GBP, JPY"},
        "the payments are in several currencies (GBP, JPY), and have no common sum: name a round, "
        "or cancel those of one currency",
    ),
    ("round_too_long", {"most": 60}, "a round's name has 1 to 60 characters"),
    (
        "round_of_parts",
        {"name": "part of the pay"},
        "'part of the pay' is the name of parts of the pay: choose another name",
    ),
    ("no_payment", {"payment": "p1"}, "there is no payment p1 here"),
    (
        "settled_otherwise",
        {"payment": "p1", "state": "settled", "event": "failed"},
        "the payment p1 is settled, and cannot be failed",
    ),
    (
        "other_total",
        {"said": "1.25", "total": "1.00"},
        "you entered 1.25, but the total is 1.00: check it again",
    ),
    ("several_amounts", {}, "the parts differ, and one request pays one amount"),
    ("refused_by_panel", {"reason": "no money"}, "no money"),
    ("withdrawn", {"worker": "ada"}, "ada withdrew what they wrote"),
    ("decided_meanwhile", {"by": "rana"}, "rana decided meanwhile"),
    (
        "which_study",
        {"studies": []},
        "name the panel's study (no study is known)",
    ),
    (
        "which_study",
        {"studies": list("abcdefg")},
        "name the panel's study (people came from several: a, b, c, d, e)",
    ),
]
HELD_BACK = (
    "whose work was rejected after the bonus was planned: it is in no list. Approve or open "
    "that work again; or take the list of the others first, and then cancel what is left"
)
LIST_CASES = [
    ("no_bonus_left", {"n_held": 0, "batch": ""}, "no confirmed bonus is left to be sent"),
    (
        "no_bonus_left",
        {"n_held": 2, "batch": "b1"},
        f"no confirmed bonus is left to be sent; left out: 2 {HELD_BACK}; write its list again "
        "with --batch b1",
    ),
    (
        "no_part_left",
        {"batch": "b1"},
        "no confirmed part of the pay is left to be sent: plan them with payments --parts, "
        "confirm them with payments --parts --confirm; write its list again with --batch b1",
    ),
    ("taken_meanwhile", {}, "another user took the list at the same moment"),
    ("no_such_list", {"noun": "bonuses", "key": "b1"}, "no list of bonuses b1 here"),
    ("bad_list_id", {"key": "x"}, "'x' is no id of a list"),
    (
        "which_batch",
        {"why": "several batches were imported", "there": "a.csv (1)"},
        "several batches were imported: choose one with --batch: a.csv (1)",
    ),
    ("several_batches", {}, "several batches were imported"),
    ("no_such_batch", {"name": "b.csv"}, "there is no one batch 'b.csv'"),
    (
        "to_approve",
        {"n": 1000, "ids": "participants"},
        "1,000 to approve, by the ids of participants",
    ),
    ("to_reject", {"n": 1000}, "1,000 to reject"),
    (
        "settled_on_panel",
        {"n": 1},
        "left out: 1 that Prolific has approved or rejected, or that returned or ran out of "
        "time there",
    ),
    ("undecided", {"n": 2}, "in no list: 2 without a decision"),
    ("held_back", {"n": 1}, f"left out: 1 {HELD_BACK}"),
    (
        "not_confirmed",
        {"n": 1},
        "in no list: 1 planned but not confirmed (payments --confirm)",
    ),
    (
        "payments",
        {"n": 2, "noun": "bonuses", "total": "1.75", "currency": "GBP"},
        "2 bonuses, 1.75 GBP",
    ),
    (
        "payments",
        {"n": 1, "noun": "parts of the pay", "total": "0.40", "currency": ""},
        "1 parts of the pay, 0.40",
    ),
    ("list_id", {"key": "b1"}, "list b1"),
    (
        "of_mturk",
        {"n": 1},
        "1 of them are people of Mechanical Turk, whose ids Prolific does not know: take their "
        "lines out, and pay them there",
    ),
    (
        "once_more",
        {},
        "the same list once more: take it to the panel only if this has not happened yet",
    ),
    ("rows", {"n": 4, "what": "the batch a.csv"}, "4 rows: the batch a.csv"),
    ("rows_settled", {"n": 1}, "1 approved or rejected there before: both cells are empty"),
    ("rows_rejected", {"n": 1}, "1 rejected here"),
    ("rows_approved", {"n": 1}, "1 approved here"),
    (
        "rows_marked_in_file",
        {"n": 1},
        "1 undecided here, with the mark that the file came with",
    ),
    ("rows_undecided", {"n": 1}, "1 undecided"),
    ("decisions", {"n": 1000}, "1,000 decisions"),
]
DECISION_CASES = [
    (
        "decisions_in_file",
        {"n": 3, "kinds": {"reject": 1, "approve": 2}, "n_new": 1, "n_unchanged": 2},
        "3 decisions in the file (2 approve, 1 reject) = 1 new + 2 unchanged",
    ),
    (
        "bonuses_in_file",
        {"n": 2, "total": "1.75 GBP", "n_new": 1, "n_known": 1},
        "2 bonuses in the file, 1.75 GBP in all = 1 new and confirmed + 1 that were there already",
    ),
    (
        "bonus_of_rejected",
        {"n": 1},
        "of who is rejected, 1 have a bonus all the same, which is confirmed: if it is a slip, "
        "cancel the round before its list is taken (payments --cancel)",
    ),
    (
        "held_bonus_of_rejected",
        {"n": 1},
        f"of who is rejected, 1 have a confirmed bonus, {HELD_BACK}",
    ),
]
TOTAL = {"total": "1.20", "currency": "GBP"}
SENDING_CASES = [
    ("held_back", {"n": 1}, f"1 {HELD_BACK}"),
    (
        "of_mturk",
        {"n": 1},
        "1 people of Mechanical Turk, whose ids it does not know: pay them there",
    ),
    ("left_out", {"said": "1 of them"}, "left out: 1 of them"),
    ("no_bonus_left", {}, "no confirmed bonus is left to be sent"),
    ("no_part_left", {}, "no confirmed part of the pay is left to be sent"),
    ("nothing_left", {}, "nothing was left"),
    (
        "bonuses_would_be_paid",
        {"n": 4, "study": "s1", **TOTAL},
        "4 bonuses, 1.20 GBP, and the panel's fee, would be paid to people of the study s1. "
        "Nothing was sent. To pay, repeat the command with --total 1.20",
    ),
    ("bonuses_paid", {"n": 4, **TOTAL}, "4 bonuses, 1.20 GBP: the panel has taken them on"),
    (
        "parts_would_be_paid",
        {"n": 3, "kind": "screened_out", "study": "s1", **TOTAL},
        "3 who did not pass the practice, 1.20 GBP, and the panel's fee, would be screened out "
        "and paid in the study s1. Nothing was sent. To pay, repeat the command with --total "
        "1.20",
    ),
    (
        "parts_would_be_paid",
        {"n": 3, "kind": "failed_checks", "study": "s1", **TOTAL},
        "3 who failed the attention checks, 1.20 GBP, and the panel's fee, would be paid as a "
        "bonus in the study s1. Nothing was sent. To pay, repeat the command with --total 1.20",
    ),
    (
        "parts_paid",
        {"n": 3, "kind": "screened_out", **TOTAL},
        "3 who did not pass the practice, 1.20 GBP: the panel has taken them on",
    ),
    (
        "parts_without_id",
        {"n": 1},
        "left out: 1 whose submission's id is not known here: import the statuses of "
        "submissions first, or use a list",
    ),
    ("nothing_paid", {"reason": "no money"}, "nothing was paid: no money"),
    *(
        (
            "not_known",
            {"reference": reference, "reason": "no answer"},
            f"whether it was paid is not known{at}: no answer. It is not sent again "
            f"automatically: check the panel, then enter the result with --settle",
        )
        for reference, at in (("", ""), ("b1", " (list b1)"))
    ),
    *(
        (
            code,
            {"n_approved": 1, "n_rejected": 2},
            f"1 approvals and 2 rejections {words} the panel",
        )
        for code, words in (
            ("decisions_to_bring", "to bring to"),
            ("decisions_brought", "brought to"),
        )
    ),
    (
        "decisions_without_id",
        {"n": 1},
        "left out: 1 whose submission's id is not known here: import the statuses of "
        "submissions first",
    ),
    ("decisions_past", {"n": 1}, "left out: 1 that the panel no longer accepts"),
    ("rejections_failed", {"n": 1}, "1 rejections did not get there"),
]
PART_CASES = [
    (
        "owed",
        {"n": 3, "kind": "screened_out", "amount": "0.40", "currency": "GBP"},
        "3 who did not pass the practice: 0.40 GBP each",
    ),
    (
        "owed",
        {"n": 2, "kind": "failed_checks", "amount": "0.80", "currency": ""},
        "2 who failed the attention checks: 0.80 each",
    ),
    ("nobody_owed", {}, "no worker is left to plan a part of the pay for"),
    (
        "without_amount",
        {"n": 5},
        "left out: 5 without a part of the pay in the settings",
    ),
    ("decided", {"n": 1}, "left out: 1 already approved or rejected"),
    ("settled", {"n": 2}, "left out: 2 settled by the panel"),
    ("there", {"n": 5}, "left out: 5 who have one already"),
    (
        "status_unknown",
        {"n": 5},
        "Warning: of 5 of them the status on the panel is not known. If your study there pays "
        "by the code itself, first import the statuses (import_statuses).",
    ),
    (
        "planned",
        {"n": 5, "total": "2.80", "currency": "GBP"},
        "5 planned, 2.80 GBP in all; a person confirms them with --parts --confirm",
    ),
    ("rule_or_round", {}, "parts of the pay have neither rule nor round"),
    ("increase_places", {}, "--increase-places goes with --parts --send"),
]
CASES = [
    (AMOUNTS, AMOUNT_CASES),
    (WRONG, WRONG_CASES),
    (PAYMENTS, PAYMENT_CASES),
    (LISTS, LIST_CASES),
    (DECISIONS, DECISION_CASES),
    (SENDING, SENDING_CASES),
    (PARTS, PART_CASES),
]


def test_each_code_has_its_sentence():
    for sentences, cases in CASES:
        found = [(code, sentences.text(code, **values)) for code, values, _ in cases]
        assert found == [(code, sentence) for code, _, sentence in cases]


def test_every_code_is_in_the_table():
    for sentences, cases in CASES:
        assert set(sentences) == {code for code, *_ in cases}


def test_each_reason_why_a_text_is_not_noted_has_its_sentence():
    assert NOT_STORED_REASONS == {
        "own_page": "They have a page here and write back there, once.",
        "not_rejected": "They are not rejected.",
        "appealed": "Another text is stored already; each rejection has one.",
    }
