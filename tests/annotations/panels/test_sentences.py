"""Each sentence about panels, once, by its code."""

from annotations.panels.sentences import PANEL, REPORTS

PANEL_CASES = [
    (
        "switched_off",
        {"address": "https://x/", "token": "T"},
        "Prolific's interface is switched off here: the operator of this installation sets "
        "CROWDGRADE_PROLIFIC_API (to https://x/) and T in the server's environment",
    ),
    (
        "no_token",
        {"token": "T"},
        "there is no token of Prolific: set T in the environment",
    ),
    ("bad_token", {"token": "T"}, "the token in T holds a character that no token has"),
    ("bad_id", {"key": "a/b"}, "'a/b' is no id of Prolific's"),
    ("address_refused", {"reason": "it is private"}, "it is private"),
    ("not_reached", {"address": "https://x"}, "Prolific cannot be reached at https://x"),
    ("no_answer", {"seconds": 30.0}, "Prolific did not answer within 30 s"),
    ("broken_off", {"error": "ReadError"}, "the connection to Prolific broke (ReadError)"),
    ("answer_too_long", {"most": 1024}, "Prolific's answer has more than 1,024 bytes"),
    ("asked_too_often", {"wait": None}, "Prolific is asked too often"),
    ("asked_too_often", {"wait": 60.0}, "Prolific is asked too often and asks to wait 60 s"),
    ("failed", {"status": 502}, "Prolific failed (status 502)"),
    ("other_status", {"status": 307}, "Prolific answered with the status 307"),
    ("refused", {"status": 400, "reason": "no"}, "Prolific refused (400): no"),
    ("other_answer", {}, "Prolific answered with something else than was asked for"),
    ("no_list", {}, "Prolific answered without a list of submissions"),
    (
        "list_changed",
        {"n": 2500, "n_given": 2000},
        "Prolific reports 2,500 submissions and sent 2,000: the list changed meanwhile; try again",
    ),
    ("no_bonus_id", {}, "Prolific noted the bonuses but returned no id"),
    ("no_group_id", {}, "Prolific made the group but returned no id"),
    (
        "other_amount_each",
        {"amount": 4.0, "each": "0.40"},
        "Prolific reports a payment of 4.0 each, but 0.40 was requested",
    ),
    (
        "other_sum_noted",
        {"panel": "Prolific", "noted": 200, "wanted": 100},
        "Prolific noted 200 hundredths where 100 are to be paid; nothing was paid",
    ),
]
CONTRADICTED = "No list turns that round: change it there, or decide the same here."
REPORT_CASES = [
    (
        "submissions_in_file",
        {"n": 1204, "n_new": 1, "n_unchanged": 1200, "n_strangers": 3},
        "1,204 submissions in the file = 1 new + 1,200 unchanged + 3 of people who did not take "
        "part here",
    ),
    (
        "took_part",
        {"counts": {"RETURNED": 1, "APPROVED": 2000}},
        "Of who took part: 2,000 APPROVED, 1 RETURNED",
    ),
    ("took_part", {"counts": {}}, "Of who took part: nobody"),
    ("did_not_take_part", {"counts": {"APPROVED": 2}}, "Of who did not: 2 APPROVED"),
    ("missing", {"n": 1000}, "1,000 people took part here and are not in the file"),
    ("columns_left_out", {"names": ["Age", "Sex"]}, "Columns that are not stored: Age, Sex"),
    ("warning", {"warning": "it is odd"}, "Warning: it is odd"),
    ("dry_run", {}, "This was a dry run: nothing was stored."),
    (
        "settled_before",
        {"n": 2, "before": "APPROVED", "now": "ACTIVE"},
        "2 people were settled on the panel before (APPROVED and now ACTIVE, the first of them). "
        "Was this file exported earlier than the last one? Take in the newest once more then.",
    ),
    (
        "contradicted",
        {"here": "rejected", "there": "approved", "names": ["ada"], "n": 1},
        f"1 rejected here is approved on the panel: ada. {CONTRADICTED}",
    ),
    (
        "contradicted",
        {"here": "rejected", "there": "approved", "names": ["ada", "ben"], "n": 1002},
        f"1,002 rejected here are approved on the panel: ada, ben and 1,000 more. {CONTRADICTED}",
    ),
]
CASES = [(PANEL, PANEL_CASES), (REPORTS, REPORT_CASES)]


def test_each_code_has_its_sentence():
    for sentences, cases in CASES:
        found = [(code, sentences.text(code, **values)) for code, values, _ in cases]
        assert found == [(code, sentence) for code, _, sentence in cases]


def test_every_code_is_in_the_table():
    for sentences, cases in CASES:
        assert set(sentences) == {code for code, *_ in cases}
