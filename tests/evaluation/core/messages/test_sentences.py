"""Sentences of messages, each once: codes with values, and what the terminal makes of them."""

import pytest

from evaluation.core.messages.message import Message
from evaluation.core.messages.run_sentences import ACROSS
from evaluation.core.options import TERMINAL
from evaluation.grading.remedies.messages import REMEDIES
from evaluation.grading.results.messages import COMPARING

TRENDS = [
    (
        "trend.rises",
        {"n": 5, "change": 0.1, "low": 0.05, "high": 0.15, "p_value": 0.015625},
        "The scores rise over 5 sets: by 0.100 from one to the next (95% interval +0.050 to "
        "+0.150). Chance alone would make their order as clear in at most 1.6% of cases.",
    ),
    (
        "trend.falls",
        {"n": 5, "change": 0.1, "low": 0.05, "high": 0.15, "p_value": 0.015625},
        "The scores fall over 5 sets: by 0.100 from one to the next (95% interval +0.050 to "
        "+0.150). Chance alone would make their order as clear in at most 1.6% of cases.",
    ),
    (
        "trend.unclear",
        {"n": 5, "p_value": 0.25},
        "These 5 sets do not show whether the scores rise or fall: chance alone makes an "
        "order as clear as theirs in 25% of cases.",
    ),
    (
        "trend.too_few",
        {"n": 0, "fewest": 5},
        "There is no score yet: a trend needs 5 or more, because chance alone puts four in rising "
        "or "
        "falling order once in 12 times.",
    ),
    (
        "trend.too_few",
        {"n": 1, "fewest": 5},
        "There is one score: a trend needs 5 or more, because chance alone puts four in rising or "
        "falling order once in 12 times.",
    ),
    (
        "trend.too_few",
        {"n": 2, "fewest": 5},
        "There are 2 scores: a trend needs 5 or more, because chance alone puts four in rising or "
        "falling order once in 12 times.",
    ),
    (
        "trend.all_equal",
        {"n": 5},
        "All 5 scores are the same: they neither rise nor fall.",
    ),
    (
        "standing.with",
        {},
        "The place among the others who answered the same sets goes the same way.",
    ),
    (
        "standing.unclear",
        {},
        "The place among the others who answered the same sets does not clearly change with them: "
        "the later sets may have been easier, or harder, for everybody.",
    ),
    (
        "standing.against",
        {},
        "The place among the others who answered the same sets goes the other way: the later sets "
        "were easier, or harder, for everybody.",
    ),
    (
        "standing.rises",
        {},
        "The place among the others who answered the same sets rises all the same.",
    ),
    (
        "standing.falls",
        {},
        "The place among the others who answered the same sets falls all the same.",
    ),
]
COMPARISONS = [
    (
        "comparison.no_models",
        {},
        "No language model was in this run.",
    ),
    (
        "comparison.no_rank",
        {"models": 1},
        "The only model could not be ranked: it has an answer that could not be fetched, or no "
        "score.",
    ),
    (
        "comparison.no_rank",
        {"models": 2},
        "None of the 2 models could be ranked: each of them has an answer that could not be "
        "fetched, or no score.",
    ),
    (
        "comparison.not_recorded",
        {"models": 2},
        "2 models can be ranked in this run, but pairs of models were not recorded when it was "
        "made: grade again to compare them.",
    ),
    (
        "comparison.only_model",
        {"leader": "Ox 2", "score": 0.5},
        "“Ox 2” is the only model that could be ranked, with a score of 0.500. It takes another "
        "model to compare it with.",
    ),
    (
        "comparison.leads_all",
        {"leader": "Ox 2", "difference": 0.05, "low": 0.01, "high": 0.09, "next": "Ox 1"},
        "“Ox 2” is better than every other model: by 0.050 (95% interval 0.010 to 0.090) than “Ox "
        "1”, the next one.",
    ),
    (
        "comparison.leads_some",
        {
            "leader": "Ox 2",
            "difference": 0.05,
            "low": 0.01,
            "high": 0.09,
            "next": "Ox 1",
            "behind": "“Elk”",
            "alike": "“Ox 1”",
            "smallest": 0.125,
        },
        "“Ox 2” is better than “Elk”, by 0.050 (95% interval 0.010 to 0.090) than “Ox 1”. It "
        "is not significantly better than “Ox 1”: on these questions only differences above 0.125 "
        "can be detected.",
    ),
    (
        "comparison.leads_none",
        {"leader": "Ox 2", "alike": "“Ox 1”", "smallest": 0.125},
        "“Ox 2” has the highest score, but is not significantly better than “Ox 1”: on these "
        "questions only differences above 0.125 can be detected.",
    ),
    (
        "comparison.led_in_pairs",
        {"leader": "Ox 2", "ahead": "“Ox 1”"},
        "“Ox 2” has the highest score, but “Ox 1” did better on the questions that both answered.",
    ),
    (
        "comparison.pair_apart",
        {
            "difference": 0.05,
            "low": 0.01,
            "high": 0.09,
            "n": 12,
            "p": 0.01,
            "first": "Ox 2",
            "second": "Ox 1",
        },
        "“Ox 2” is better than “Ox 1” by 0.050 (95% interval 0.010 to 0.090 on 12 questions, p = "
        "0.01).",
    ),
    (
        "comparison.pair_alike",
        {
            "first": "Ox 2",
            "second": "Ox 1",
            "low": -0.05,
            "high": 0.09,
            "n": 12,
            "p": 0.5,
            "smallest": 0.125,
            "difference": 0.02,
        },
        "“Ox 2” and “Ox 1” cannot be distinguished: the difference is 0.020 (95% interval "
        "-0.050 to "
        "0.090 on 12 questions, p = 0.5), and so few questions do not show differences below "
        "0.125.",
    ),
    (
        "comparison.pair_undefined",
        {"first": "Ox 2", "second": "Ox 1", "reason": "no_pairs"},
        "“Ox 2” and “Ox 1” cannot be compared: no question in common.",
    ),
]
TRIAGE = [
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 3,
            "before": 3,
            "earlier": 0,
            "after": 0,
            "later": 0,
            "together": 0,
            "unknown": 0,
        },
        "Ada was first, all 3 times: Ben could have copied from Ada, not the other way round; "
        "both may have used one source.",
    ),
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 1,
            "before": 0,
            "earlier": 0,
            "after": 1,
            "later": 0,
            "together": 0,
            "unknown": 0,
        },
        "Ben was first, the one time: Ada could have copied from Ben, not the other way round; "
        "both may have used one source.",
    ),
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 3,
            "before": 0,
            "earlier": 0,
            "after": 0,
            "later": 2,
            "together": 0,
            "unknown": 1,
        },
        "Ben was first, all 2 times (of 3 answers, the times of 2 are known): Ada could have "
        "copied from Ben. When they began is not known, so they may also have worked side by "
        "side, or from one source.",
    ),
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 2,
            "before": 0,
            "earlier": 0,
            "after": 0,
            "later": 0,
            "together": 2,
            "unknown": 0,
        },
        "Both were at work at the same time, all 2 times: either could have copied from the "
        "other, or both from one source.",
    ),
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 4,
            "before": 2,
            "earlier": 0,
            "after": 1,
            "later": 0,
            "together": 1,
            "unknown": 0,
        },
        "Ben was first once, Ada 2 times, they were at work together once: either could have "
        "copied from the other, or both from one source.",
    ),
    (
        "triage.times",
        {
            "me": "Ada",
            "other": "Ben",
            "n": 4,
            "before": 0,
            "earlier": 0,
            "after": 0,
            "later": 0,
            "together": 0,
            "unknown": 4,
        },
        "When they answered is not known: the answers alone cannot show who could have copied.",
    ),
    (
        "triage.rest",
        {"n": 4, "silent": 0, "named": 2, "with_alarms": False, "again": 1, "decided": 4},
        "4 people without a decision would be accepted; 2 named by an alarm or a notice stay "
        "open; 1 to review again stays open.",
    ),
    (
        "triage.rest",
        {"n": 6, "silent": 0, "named": 2, "with_alarms": True, "again": 0, "decided": 4},
        "6 people without a decision would be accepted; 2 of them although an alarm or a "
        "notice names them.",
    ),
    (
        "triage.rest",
        {"n": 1, "silent": 1, "named": 0, "with_alarms": False, "again": 0, "decided": 4},
        "1 person without a decision would be accepted; 1 of them gave no answer.",
    ),
    (
        "triage.rest",
        {"n": 0, "silent": 0, "named": 2, "with_alarms": False, "again": 1, "decided": 4},
        "All others are decided; 2 named by an alarm or a notice stay open; 1 to review again "
        "stays open.",
    ),
    (
        "triage.rest",
        {"n": 0, "silent": 0, "named": 0, "with_alarms": False, "again": 0, "decided": 4},
        "Everybody is decided (4).",
    ),
    (
        "triage.without",
        {"out": 2, "left": 2, "all": 4, "answers": 12, "all_answers": 24},
        "2 people left out; 2 of 4 people and 12 of 24 answers remain.",
    ),
    (
        "triage.thin",
        {"questions": 0},
        "Every question that had 3 answers or more keeps at least 3.",
    ),
    (
        "triage.thin",
        {"questions": 1},
        "1 question keeps fewer than 3 answers: too few for a consensus that does not depend on "
        "one person.",
    ),
    (
        "triage.thin",
        {"questions": 6},
        "6 questions keep fewer than 3 answers: too few for a consensus that does not depend on "
        "one person.",
    ),
]
EXPERTS = [
    (
        "experts.agree.said",
        {
            "count": 1000,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": True,
            "experts": 2,
            "kappa": 0.39,
            "apart": True,
        },
        "1,000 answers drawn at random, graded by 2 experts: their grades correlate 0.62 with the "
        "scores (95% interval 0.25 to 0.80; 1 is perfect, 0 no relation). With each other they "
        "agree by 0.39 (kappa: 1 is fully, 0 by chance). Nothing can agree much with experts who "
        "agree so little.",
    ),
    (
        "experts.agree.said",
        {
            "count": 40,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": True,
            "experts": 1,
            "kappa": None,
            "apart": False,
        },
        "40 answers drawn at random, graded by an expert: their grades correlate 0.62 with the "
        "scores (95% interval 0.25 to 0.80; 1 is perfect, 0 no relation).",
    ),
    (
        "experts.unsure.said",
        {
            "count": 1000,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": True,
            "experts": 2,
            "kappa": 0.4,
            "apart": False,
        },
        "1,000 answers drawn at random, graded by 2 experts: their grades correlate 0.62 with the "
        "scores (95% interval 0.25 to 0.80; 1 is perfect, 0 no relation). That may be chance: the "
        "interval reaches down to hardly any agreement. With each other they agree by 0.40 "
        "(kappa: 1 is fully, 0 by chance).",
    ),
    (
        "experts.too_few.said",
        {
            "count": 19,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": True,
            "experts": 2,
            "kappa": None,
            "apart": False,
        },
        "19 answers drawn at random, graded by 2 experts: their grades correlate 0.62 with the "
        "scores (95% interval 0.25 to 0.80; 1 is perfect, 0 no relation). Too few for a verdict.",
    ),
    (
        "experts.no_spread.said",
        {
            "count": 1,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": False,
            "experts": 1,
            "kappa": None,
            "apart": False,
        },
        "1 answer graded by an expert, but their grades or scores are all the same.",
    ),
    (
        "experts.chose.said",
        {
            "count": 30,
            "correlation": 0.62,
            "low": 0.25,
            "high": 0.8,
            "sampled": True,
            "experts": 2,
            "kappa": None,
            "apart": False,
        },
        "30 answers drawn at random, graded by 2 experts. They chose this ranking, so they cannot "
        "confirm it as well.",
    ),
]
REFUSED_REMEDIES = [
    (
        "cap_too_low",
        {"cap": 0.1, "voters": 3, "lowest": 0.3334},
        "a weight cap of 0.1 is below 1/3: the weights of 3 voters could not sum to 1; give at "
        "least 0.3334",
    ),
    (
        "few_outside_groups",
        {"outside": 2, "fewest": 3},
        "only 2 of the workers would be left outside the groups of copies, and 3 are needed to "
        "grade by: grade without --collapse-copies, or exclude the workers you do not trust",
    ),
    (
        "nobody_left",
        {},
        "all workers are excluded: no worker is left for a grading",
    ),
]
OTHERS = [
    (
        "language_not_checked",
        {"why": "it needs py3langid"},
        "The language of the answers was not checked: it needs py3langid.",
    ),
    (
        "graded.apart",
        {
            "best": "f1",
            "default": "aqer",
            "rival": "aqer",
            "held": 5,
            "r": 0.72,
            "low": 0.61,
            "high": 0.8,
            "lead": -0.001,
            "lead_low": -0.004,
            "lead_high": 0.01,
        },
        "The methods do not differ significantly here, so stay with aqer, the default, whose "
        "scores of "
        "workers agree with their grades at 0.72 of at most 1 (95% 0.61 to 0.80) on the 5 "
        "questions held out: f1 was best on the others, but its lead there is 0.00 (95% 0.00 to "
        "0.01).",
    ),
]
WHOLE = [(ACROSS, TRENDS), (COMPARING, COMPARISONS), (REMEDIES, REFUSED_REMEDIES)]
"""Catalogues all of whose codes have a sentence here."""


@pytest.mark.parametrize(
    ("code", "values", "sentence"),
    [*TRENDS, *COMPARISONS, *TRIAGE, *EXPERTS, *REFUSED_REMEDIES, *OTHERS],
)
def test_the_sentence_of_a_message(code, values, sentence):
    assert TERMINAL.format_message(Message(code, values)) == sentence


@pytest.mark.parametrize(("catalogue", "cases"), WHOLE, ids=["across", "comparing", "remedies"])
def test_each_code_of_a_catalogue_has_a_sentence_here(catalogue, cases):
    assert {code for code, *_ in cases} == catalogue.keys()
