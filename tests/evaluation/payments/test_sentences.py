"""The sentences of paying, each once: messages of the desk, refused rules, rules in few words."""

from decimal import Decimal

import pytest

from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.payments.messages import PAYING
from evaluation.payments.storage.rules import SENTENCES, BonusRule, RuleError

MESSAGES = [
    (
        "paying.no_data",
        {"asked": 4},
        "Handed in, and there is no answer at all.",
    ),
    (
        "paying.checks",
        {"failed": 1, "checks": 1},
        "1 of 1 attention check was answered otherwise than asked for.",
    ),
    (
        "paying.checks",
        {"failed": 2, "checks": 3},
        "2 of 3 attention checks were answered otherwise than asked for.",
    ),
    (
        "paying.fast",
        {"minutes": 1.0, "median": 10.0, "timed": 9},
        "Took 1.0 min; half of the people took 10.0 min or more (9 have times). A third of that "
        "is the line here.",
    ),
    (
        "paying.empty",
        {"empty": 3, "asked": 4},
        "3 of 4 questions left without an answer.",
    ),
    (
        "paying.same",
        {"same": 3, "answers": 4},
        "The same text is in 3 of 4 answers.",
    ),
    (
        "paying.no_code",
        {},
        "Returned to the panel without a completion code.",
    ),
    (
        "paying.bad_code",
        {"code": "XYZ"},
        "Gave the panel the code XYZ, which does not belong to this study.",
    ),
    (
        "paying.withdrew",
        {},
        "Withdrew what they wrote: nothing is decided of it any more.",
    ),
    (
        "paying.not_handed_in",
        {},
        "Did not hand in.",
    ),
    (
        "paying.settled",
        {"status": "returned"},
        "The panel has settled it: returned.",
    ),
    (
        "paying.part",
        {"amount": "0.80", "currency": "GBP", "state": "planned"},
        "A part of the pay is planned instead of the whole: 0.80 GBP, planned.",
    ),
    (
        "paying.alarm",
        {"words": "copies"},
        "An alarm names them: copies.",
    ),
    (
        "paying.lowest",
        {},
        "Stays in the lowest quarter of the ranks on whatever questions are drawn.",
    ),
    (
        "paying.fine",
        {},
        "No problem found.",
    ),
    (
        "paying.ungraded",
        {},
        "Not graded yet: only times, checks and empty answers are shown.",
    ),
    (
        "paying.few",
        {"answers": 1},
        "Only 1 answer graded: too few for a grade.",
    ),
    (
        "paying.unfair",
        {
            "group": "Phone",
            "what": "device",
            "hit": 2,
            "n": 12,
            "done": "are kept",
            "best": "computer",
            "best_hit": 27,
            "best_n": 27,
            "ratio": 0.17,
            "ratio_high": 0.62,
        },
        "Phone (device): 2 of 12 are kept; computer: 27 of 27. That is 0.17 times as often (at "
        "most 0.62, 95% interval), below 0.80 (four fifths). Look whether the rule itself is fair "
        "to them before it is applied.",
    ),
    (
        "paying.assistive_few",
        {"done": "are not rejected", "fewest": 10, "each_way": 5},
        "Assistive technology: too few people for a verdict. It needs 10 or more people who "
        "stated that they use it, 10 or more who did not, a good result for 5 people or more "
        "and a bad "
        "one for 5 people or more. A difference also has to be larger than chance makes it.",
    ),
    (
        "paying.assistive_fair",
        {"done": "are not rejected", "fewest": 10, "each_way": 5},
        "Assistive technology: for neither people who stated that they use it nor all others is "
        "the share of those who are not rejected below four fifths of that of the other.",
    ),
    (
        "paying.assistive_unfair",
        {"done": "are not rejected", "fewest": 10, "each_way": 5, "said": True},
        "Assistive technology: of people who stated that they use it a smaller share are not "
        "rejected than of all others, below four fifths of it. Look whether the rule itself is "
        "fair to them before it is applied. The numbers are hidden, so that they identify no "
        "worker.",
    ),
    (
        "paying.assistive_unfair",
        {"done": "are not rejected", "fewest": 10, "each_way": 5, "said": False},
        "Assistive technology: of all others a smaller share are not rejected than of people "
        "who stated that they use it, below four fifths of it. Look whether the rule itself is "
        "fair to "
        "them before it is applied. The numbers are hidden, so that they identify no worker.",
    ),
    (
        "paying.poor",
        {"below": 1, "timed": 9, "least": "7.00", "currency": "GBP", "lowest": "6.00"},
        "1 of 9 people with times earns less than 7.00 GBP an hour, bonus included: the lowest "
        "6.00.",
    ),
    (
        "paying.poor",
        {"below": 2, "timed": 1, "least": "7.00", "currency": "GBP", "lowest": "6.00"},
        "2 of 1 person with times earn less than 7.00 GBP an hour, bonus included: the lowest "
        "6.00.",
    ),
    (
        "paying.hourly_unknown",
        {"least": "7.00", "currency": "", "missing": "pay"},
        "Whether a worker earns less than 7.00 an hour is not known: the pay of each worker is not "
        "recorded, so no warning is possible.",
    ),
    (
        "paying.hourly_unknown",
        {"least": "7.00", "currency": "GBP", "missing": "times"},
        "Whether a worker earns less than 7.00 GBP an hour is not known: the time of each worker "
        "is "
        "not recorded, so no warning is possible.",
    ),
]
REFUSED = [
    (
        "unknown_rule",
        {"given": "best", "known": "quantile, threshold"},
        "there is no rule 'best': quantile, threshold",
    ),
    (
        "amount_range",
        {"least": "0.01", "most": 1000},
        "a bonus goes from 0.01 to 1,000.00",
    ),
    (
        "share_missing",
        {},
        "give the share of people, above 0 and at most 1",
    ),
    (
        "score_missing",
        {},
        "give the lowest score",
    ),
    (
        "no_scores",
        {},
        "no worker has a score: grade the answers of this version first",
    ),
    (
        "amount_too_large",
        {"most": 1000},
        "a worker would get more than 1,000.00",
    ),
    (
        "score_range",
        {"most": 1000},
        "a score goes from -1,000 to 1,000",
    ),
    (
        "unknown_score",
        {"given": "grade", "known": "raw, contrast"},
        "there is no score 'grade': raw, contrast",
    ),
    (
        "no_contrast",
        {},
        "the grading has no question contrast: grade the answers again",
    ),
    (
        "unknown_end",
        {"given": "high", "known": "score, low"},
        "there is no end 'high': score, low",
    ),
    (
        "unknown_panel",
        {"given": "Else", "known": "MTurk, Prolific"},
        "no worker came from the panel 'Else'; there is: MTurk, Prolific",
    ),
    (
        "several_panels",
        {"known": "MTurk, Prolific"},
        "people came from several panels, choose one of: MTurk, Prolific",
    ),
]


@pytest.mark.parametrize(("code", "values", "sentence"), MESSAGES)
def test_messages_of_the_desk(code, values, sentence):
    assert TERMINAL.format_message(Message(code, values)) == sentence


def test_each_message_of_the_desk_has_a_sentence_here():
    assert {code for code, *_ in MESSAGES} == PAYING.keys()


@pytest.mark.parametrize(("code", "values", "sentence"), REFUSED)
def test_refused_rules(code, values, sentence):
    assert str(RuleError("field", code, **values)) == sentence


def test_each_refused_rule_has_a_sentence_here():
    assert [code for code, *_ in REFUSED] == list(SENTENCES)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (BonusRule("quantile", Decimal("1.00"), share=0.5), "the best 50% by raw score"),
        (BonusRule("threshold", Decimal("1.00"), at_least=0.6), "the raw score is at least 0.6"),
        (
            BonusRule("threshold", Decimal("1.00"), at_least=0.6, end="low"),
            "the lower end of the raw score is at least 0.6",
        ),
        (BonusRule("per-answer", Decimal("0.05")), "0.05 for each answer"),
        (
            BonusRule("quantile", Decimal("1.00"), share=0.5, score="contrast"),
            "the best 50% by question contrast",
        ),
        (
            BonusRule("threshold", Decimal("1.00"), at_least=0.2, end="low", score="contrast"),
            "the lower end of the question contrast is at least 0.2",
        ),
    ],
)
def test_rules_beside_payments(rule, sentence):
    assert rule.said == sentence
