"""Each sentence of a catalogue, once: code, values, and what the site says.

Tests elsewhere assert codes and values. To reword a sentence change it here and in its catalogue.
"""

import pytest

from evaluation.words.alarms import BRIEFLY, MEASURED, TITLES, measured
from evaluation.words.comparing import COMPARING
from evaluation.words.decision import DECISION
from evaluation.words.facts import FACTS
from evaluation.words.outcomes import OUTCOMES
from evaluation.words.signals import SIGNALS
from evaluation.words.triage import TRIAGE
from evaluation.words.trust import TRUST
from tests.sentences import site_sentence

PAIR = {
    "first": "A",
    "second": "B",
    "difference": 0.05,
    "low": -0.02,
    "high": 0.12,
    "n": 12,
    "p": 0.2,
    "smallest": 0.1,
}
TIMES = {
    "before": 0,
    "earlier": 0,
    "after": 0,
    "later": 0,
    "together": 0,
    "me": "ada",
    "other": "ben",
}
REST = {"n": 0, "named": 0, "again": 0, "silent": 0, "decided": 0, "with_alarms": False}
GRADED = {
    "count": 30,
    "experts": 1,
    "kappa": None,
    "sampled": True,
    "low": 0.2,
    "high": 0.8,
    "correlation": 0.55,
    "apart": False,
    "fewest": 20,
}
SENTENCES = [
    (
        "signals.pasted",
        {"n": 6, "pasted": 4, "share": 0.94},
        "Pasted into 4 of 6 answers: up to 94% of the characters of these.",
    ),
    (
        "signals.pasted",
        {"n": 6, "pasted": 0, "share": None},
        "Pasted into none of 6 answers.",
    ),
    (
        "signals.typed",
        {"typed": 3, "length": 50, "question": "r1", "pasted": 47},
        "Typed 3 characters of an answer of 50 (r1), and pasted 47.",
    ),
    (
        "signals.typed",
        {"typed": 10, "length": 50, "question": "r1", "pasted": 0},
        "Typed 10 characters of an answer of 50 (r1) and pasted none: the rest came in a way "
        "that is not counted, such as another window without a script, or a tool of the "
        "browser.",
    ),
    (
        "signals.pasted_more",
        {"others": 6, "below": 0, "same": 4, "above": 2},
        "Of 6 others, 0 pasted into a smaller share of their answers, 4 into as large a one, "
        "2 into a larger one.",
    ),
    (
        "signals.left_more",
        {"others": 6, "below": 6, "same": 0, "above": 0},
        "Of 6 others, 6 left the page less often for each answer, 0 as often, 0 more often.",
    ),
    (
        "signals.few",
        {"others": 2},
        "Too few others were counted (2) to compare with.",
    ),
    (
        "signals.away",
        {"left": 8, "away": 180, "active": 60},
        "Left the page for another window or tab 8 times, 3 minutes in all; active for 60 seconds.",
    ),
    (
        "signals.away",
        {"left": 1, "away": 90, "active": 60},
        "Left the page for another window or tab once, 90 seconds in all; active for 60 seconds.",
    ),
    (
        "signals.away",
        {"left": 0, "away": 0, "active": 60},
        "Never left the page while answering; active for 60 seconds.",
    ),
    (
        "signals.none",
        {},
        "How these answers were written was not measured: that needs a script in the "
        "browser, and a set that counts. It says nothing about them.",
    ),
    (
        "signals.off",
        {},
        "Nothing is counted of this worker, as everybody may choose. It says nothing about "
        "the answers.",
    ),
    (
        "signals.limits",
        {},
        "It proves nothing by itself: some people write elsewhere and paste, quote the text "
        "beside the questions, or leave the page to look up a word; a phone's keyboard can "
        "put in copied text as if it were typed; who means to deceive can make these counts "
        "up. They are in no grade and in no alarm, and no reason to refuse anybody's pay.",
    ),
    (
        "facts.agrees",
        {"value": "1858", "mentions": 8, "of": 9},
        "says 1858, as 8 of 9 others do",
    ),
    (
        "facts.contradicts",
        {"value": "1857", "crowd": "1858", "n_crowd": 9, "of": 9},
        "says 1857; 9 of 9 others say 1858",
    ),
    (
        "facts.contradicts",
        {"value": "1857", "crowd": "1858", "n_crowd": 1, "of": 1},
        "says 1857; 1 of 1 other says 1858",
    ),
    (
        "facts.contested",
        {"value": "1866", "mentions": 1, "of": 9},
        "says 1866, as 1 of 9 others does: contested",
    ),
    (
        "facts.missing",
        {"value": "1858", "n_crowd": 8, "of": 9},
        "does not say 1858, which 8 of 9 others say",
    ),
    (
        "facts.extra",
        {"value": "1858"},
        "says 1858 besides, which the crowd neither agrees on nor denies",
    ),
    (
        "facts.open",
        {"value": "1858"},
        "says 1858; the crowd agrees on nothing of the kind",
    ),
    (
        "facts.too_few",
        {"value": "1858"},
        "says 1858; too few others say anything of the kind",
    ),
    (
        "meaning.agrees",
        {"crowd": "It rained.", "mentions": 3, "of": 4},
        "agrees with “It rained.” by the entailment model, as 3 of 4 others do",
    ),
    (
        "meaning.contradicts",
        {"crowd": "It rained.", "value": "0.98", "n_crowd": 3, "of": 4},
        "contradicts “It rained.” by the entailment model (probability 0.98); 3 of 4 others "
        "agree with that",
    ),
    (
        "meaning.contested",
        {"crowd": "It rained.", "value": "0.98", "n_crowd": 3, "mentions": 1, "of": 4},
        "contradicts “It rained.” by the entailment model (probability 0.98); 3 of 4 others "
        "agree with that, 1 of 4 others contradict it as well: contested",
    ),
    (
        "meaning.open",
        {"value": "0.40"},
        "neither agrees with the exemplary answer by the entailment model nor contradicts it "
        "(probability 0.40)",
    ),
    (
        "meaning.too_few",
        {},
        "too few others answered to say what contradicts them",
    ),
    (
        "meaning.found",
        {
            "model": "small",
            "contradicts": 1,
            "contested": 2,
            "agrees": 3,
            "open": 4,
            "questions": 5,
        },
        "By meaning (small), in no grade: 1 answer contradict what the crowd says, 2 "
        "contested, 3 agree, 4 open, on 5 questions.",
    ),
    (
        "facts.standing",
        {"questions": 2, "contradicted": 2},
        "Contradicts the crowd on 2 of 2 questions on which the crowd agrees on a fact.",
    ),
    (
        "facts.standing",
        {"questions": 1, "contradicted": 0},
        "Contradicts the crowd on none of 1 question on which the crowd agrees on a fact.",
    ),
    (
        "facts.standing",
        {"questions": 0, "contradicted": 0},
        "Answered no question on which the crowd agrees on a fact.",
    ),
    (
        "facts.found",
        {"agreed": 1, "contested": 2, "spoken": 2, "questions": 3},
        "Facts, in no grade: 1 value agreed on and 2 contested, on 2 of 3 questions.",
    ),
    (
        "facts.silent",
        {"n": 1, "why": "nobody answered"},
        "Nothing is said of 1 question: nobody answered.",
    ),
    (
        "facts.read_by",
        {
            "model": "small",
            "facts": 3,
            "answers": 2,
            "questions": 1,
            "not_in_text": 4,
            "other_slot": 5,
            "unread": 6,
            "without_slots": 7,
            "errors": 8,
        },
        "Read by small: 3 facts in 2 answers to 1 question; refused 4 whose quotes are not "
        "in the answers and 5 of kinds that were not asked for. Not to be read: the replies "
        "on 6 answers, and the kinds of 7 questions; 8 without a reply.",
    ),
    (
        "facts.notice",
        {"contradicted": 1, "questions": 2},
        "contradicts the crowd on 1 of 2 questions",
    ),
    (
        "best.lead",
        {"alike": 1},
        "On other questions of the same kind the first would still lead.",
    ),
    (
        "best.lead",
        {"alike": 3},
        "On other questions of the same kind the first 3 could change places: take them as "
        "equally good.",
    ),
    (
        "best.above",
        {"above": 1},
        "Rank 1 is among the people to look at, because an alarm names them.",
    ),
    (
        "best.above",
        {"above": 3},
        "Ranks 1 to 3 are among the people to look at, because an alarm names them.",
    ),
    (
        "best.no_intervals",
        {},
        "How sure this order is was not computed: grade again with “bootstrap” at 400 to learn it.",
    ),
    (
        "best.nobody",
        {},
        "Nobody is ranked: it takes 3 people, and 5 answers of each to questions that at "
        "least 3 people answered.",
    ),
    (
        "best.all_marked",
        {},
        "Everybody at the top is named by an alarm: look at the evidence first.",
    ),
    (
        "look.nobody",
        {},
        "No alarm names anybody, and nobody is clearly behind the others.",
    ),
    (
        "look.lowest",
        {"first": 18, "last": 20, "ranked": 19},
        "in the lowest quarter, and would be there with other questions, too (rank 18 to 20 of 19)",
    ),
    (
        "look.without_rank",
        {"without_rank": 1},
        "1 person answered too little to be ranked.",
    ),
    (
        "look.without_rank",
        {"without_rank": 1200},
        "1,200 people answered too little to be ranked.",
    ),
    (
        "outcome.excluded",
        {"workers": 1},
        "Gone: the one whom it was about is left out.",
    ),
    (
        "outcome.excluded",
        {"workers": 2},
        "Gone: all 2 whom it was about are left out.",
    ),
    (
        "outcome.some_excluded",
        {"workers": 2, "excluded": 1},
        "Gone: 1 of the 2 whom it was about is left out, and among the others it is not seen "
        "any more.",
    ),
    (
        "outcome.silent_without",
        {},
        "Gone: without those who are left out it is not seen any more.",
    ),
    (
        "outcome.collapsed",
        {"workers": 2},
        "Answered: the 2 of them count as one voter, with the answers in the middle of theirs.",
    ),
    (
        "outcome.collapsed_first",
        {"workers": 2},
        "Answered: the 2 of them count as one voter, with the answers of the one who was "
        "first by the times of the answers.",
    ),
    (
        "outcome.settled",
        {"graded": 6},
        "Settled by experts: they graded 6 answers, and the ranking that agrees best with "
        "them was taken.",
    ),
    (
        "outcome.settled_won",
        {"graded": 6, "agreement": 0.9, "other_agreement": -0.2},
        "Settled by experts: they graded 6 answers, and the ranking that agrees best with "
        "them follows this camp (its order agrees with that of a grading by this camp alone "
        "by 0.90, by the other camp alone by -0.20; 1 is the same order).",
    ),
    (
        "outcome.settled_won",
        {"graded": 1},
        "Settled by experts: they graded 1 answer, and the ranking that agrees best with "
        "them follows this camp.",
    ),
    (
        "outcome.settled_lost",
        {"graded": 6, "agreement": 0.9, "other_agreement": -0.2},
        "Settled by experts: they graded 6 answers, and the ranking that agrees best with "
        "them follows the other camp (its order agrees with that of a grading by this camp "
        "alone by 0.90, by the other camp alone by -0.20; 1 is the same order).",
    ),
    (
        "outcome.settled_questions",
        {"graded": 6},
        "Settled by experts: they graded 6 answers, and the camps on these questions are the "
        "two camps of the crowd between which that decided.",
    ),
    (
        "outcome.nearest_camp",
        {},
        "Answered: on these questions each answer is compared with the nearer of the two "
        "camps, so that no camp loses for being the smaller one.",
    ),
    (
        "outcome.silent",
        {},
        "Answered: it was looked for again among those who vote now, as they vote now, and "
        "it is not seen any more.",
    ),
    (
        "outcome.still",
        {},
        "Still there: it was looked for again after the remedy.",
    ),
    (
        "outcome.still_camp",
        {"follows": True},
        "Still there: nobody has settled which camp is right. The ranking follows this camp.",
    ),
    (
        "outcome.still_camp",
        {"follows": False, "agreement": 0.1, "other_agreement": 0.8},
        "Still there: nobody has settled which camp is right. The ranking does not follow "
        "this camp (its order agrees with that of a grading by this camp alone by 0.10, by "
        "the other camp alone by 0.80; 1 is the same order).",
    ),
    (
        "outcome.unchecked",
        {"reason": "no_draws"},
        "Still open: after the remedy it could not be looked for again, because the run did "
        "not try other choices of questions (its bootstrap draws are 0).",
    ),
    (
        "outcome.by_words",
        {"agreement": 0.25},
        "Not settled: this run takes the other of the two sides. It is graded by words, so "
        "there is no second order left to hold it against; the two orders agreed by 0.25 (1 "
        "is the same order). Which of the two sees what makes an answer good, only people "
        "can say: let an expert grade some answers, and both runs are held against the same "
        "grades.",
    ),
    (
        "outcome.by_words",
        {"agreement": None},
        "Not settled: this run takes the other of the two sides. It is graded by words, so "
        "there is no second order left to hold it against. Which of the two sees what makes "
        "an answer good, only people can say: let an expert grade some answers, and both "
        "runs are held against the same grades.",
    ),
    (
        "outcome.by_words_agree",
        {"count": 30, "correlation": 0.85, "before": 0.1},
        "Settled by experts: their grades of 30 answers agree by 0.85 with this run's "
        "scores, and by 0.10 with those of the run before (1 is full agreement).",
    ),
    (
        "outcome.by_words_unsure",
        {"count": 10, "fewest": 20, "correlation": 0.85, "before": None},
        "Not settled yet: experts' grades of 10 answers agree by 0.85 with this run's "
        "scores, and by an unknown number with those of the run before (1 is full "
        "agreement). That is too few to say: have 20 answers graded or more.",
    ),
    (
        "outcome.by_words_unsure",
        {"count": 30, "fewest": 20, "correlation": 0.1, "before": 0.9},
        "Not settled yet: experts' grades of 30 answers agree by 0.10 with this run's "
        "scores, and by 0.90 with those of the run before (1 is full agreement). The run "
        "before agrees as well or better: go by that one, or have more answers graded.",
    ),
    (
        "outcome.by_words_unsure",
        {"count": 30, "fewest": 20, "correlation": 0.1, "before": 0.05},
        "Not settled yet: experts' grades of 30 answers agree by 0.10 with this run's "
        "scores, and by 0.05 with those of the run before (1 is full agreement). That is "
        "hardly any agreement, or may be chance: have more answers graded.",
    ),
    (
        "outcome.settings",
        {},
        "Gone: with the settings of this run it is not seen any more.",
    ),
    (
        "outcome.new",
        {},
        "New: it came with the remedy, and was not there before.",
    ),
    (
        "comparison.no_models",
        {},
        "No language model was in this run.",
    ),
    (
        "comparison.no_rank",
        {"models": 1},
        "The only model could not be ranked: it has an answer that could not be fetched, or "
        "no score.",
    ),
    (
        "comparison.no_rank",
        {"models": 3},
        "None of the 3 models could be ranked: each of them has an answer that could not be "
        "fetched, or no score.",
    ),
    (
        "comparison.not_recorded",
        {"models": 3},
        "3 models can be ranked in this run, but pairs of models were not recorded when it "
        "was made: grade again to compare them.",
    ),
    (
        "comparison.only_model",
        {"leader": "A", "score": 0.6},
        "“A” is the only model that could be ranked, with a score of 0.600. It takes another "
        "model to compare it with.",
    ),
    (
        "comparison.leads_all",
        {"leader": "A", "difference": 0.2, "low": 0.1, "high": 0.3, "next": "B"},
        "“A” is better than every other model: by 0.200 (95% interval 0.100 to 0.300) than "
        "“B”, the next one.",
    ),
    (
        "comparison.leads_some",
        {
            "leader": "A",
            "behind": "“C”",
            "alike": "“B”",
            "difference": 0.2,
            "low": 0.1,
            "high": 0.3,
            "next": "C",
            "smallest": 0.05,
        },
        "“A” is better than “C”, by 0.200 (95% interval 0.100 to 0.300) than “C”. It cannot "
        "be told apart from “B”: on these questions differences below 0.050 do not show.",
    ),
    (
        "comparison.leads_none",
        {"leader": "A", "alike": "“B”", "smallest": 0.05},
        "“A” has the highest score, but cannot be told apart from “B”: on these questions "
        "differences below 0.050 do not show.",
    ),
    (
        "comparison.led_in_pairs",
        {"leader": "A", "ahead": "“B”"},
        "“A” has the highest score, but “B” did better on the questions that both answered.",
    ),
    (
        "comparison.pair_apart",
        PAIR | {"p": 0.0004},
        "“A” is better than “B” by 0.050 (95% interval -0.020 to 0.120 on 12 questions, p < "
        "0.001).",
    ),
    (
        "comparison.pair_alike",
        PAIR,
        "“A” and “B” cannot be told apart: the difference is 0.050 (95% interval -0.020 to "
        "0.120 on 12 questions, p = 0.2), and so few questions do not show differences below "
        "0.100.",
    ),
    (
        "comparison.pair_undefined",
        {"first": "A", "second": "B", "reason": "no_pairs"},
        "“A” and “B” cannot be compared: no question in common.",
    ),
    (
        "triage.standing",
        {"rank": None, "ranked": 19},
        "Answered too little to be ranked.",
    ),
    (
        "triage.standing",
        {"rank": 3, "ranked": 1900},
        "Rank 3 of 1,900.",
    ),
    (
        "triage.nothing",
        {},
        "No alarm and no notice names this person.",
    ),
    (
        "triage.partner",
        {"read": 0, "same": 0, "other": "ben"},
        "There is no question that ben answered too.",
    ),
    (
        "triage.partner",
        {"read": 12, "same": 0, "other": "ben"},
        "None of the 12 answers to questions that both answered is the same as ben's.",
    ),
    (
        "triage.partner",
        {"read": 12, "same": 12, "other": "ben"},
        "12 of 12 answers are the same as ben's, but for light edits.",
    ),
    (
        "triage.partner",
        {"read": 12, "same": 1, "other": "ben"},
        "1 of 12 answers is the same as ben's, but for light edits.",
    ),
    (
        "triage.times",
        TIMES | {"n": 0},
        "",
    ),
    (
        "triage.times",
        TIMES | {"n": 12},
        "When they answered is not known: the answers alone cannot say who could have copied "
        "from whom.",
    ),
    (
        "triage.times",
        TIMES | {"after": 12, "n": 12},
        "ben was first, all 12 times: ada could have copied from ben, not the other way "
        "round; both may have used one source.",
    ),
    (
        "triage.times",
        TIMES | {"before": 12, "n": 12},
        "ada was first, all 12 times: ben could have copied from ada, not the other way "
        "round; both may have used one source.",
    ),
    (
        "triage.times",
        TIMES | {"before": 5, "earlier": 1, "n": 12},
        "ada was first, all 6 times (of 12 answers, the times of 6 are known): ben could "
        "have copied from ada. When they began is not known, so they may also have worked "
        "side by side, or from one source.",
    ),
    (
        "triage.times",
        TIMES | {"together": 1, "n": 1},
        "Both were at work at the same time, the one time: either could have copied from the "
        "other, or both from one source.",
    ),
    (
        "triage.times",
        TIMES | {"before": 1, "after": 2, "together": 1, "n": 4},
        "ben was first 2 times, ada once, they were at work together once: either could have "
        "copied from the other, or both from one source.",
    ),
    (
        "triage.without",
        {"out": 1, "left": 19, "all": 20, "answers": 220, "all_answers": 240},
        "1 person left out; 19 of 20 people and 220 of 240 answers remain.",
    ),
    (
        "triage.thin",
        {"questions": 0},
        "Every question that had 3 answers or more keeps at least 3.",
    ),
    (
        "triage.thin",
        {"questions": 1},
        "1 question keeps fewer than 3 answers: too few for a consensus that does not hang "
        "on one person.",
    ),
    (
        "triage.thin",
        {"questions": 2},
        "2 questions keep fewer than 3 answers: too few for a consensus that does not hang "
        "on one person.",
    ),
    (
        "triage.rest",
        REST | {"n": 17, "named": 2, "again": 1},
        "17 people of whom nobody decided would be accepted; 2 named by an alarm or a notice "
        "stay open; 1 to be looked at again stays open.",
    ),
    (
        "triage.rest",
        REST | {"n": 6, "named": 2, "silent": 1, "with_alarms": True},
        "6 people of whom nobody decided would be accepted; 1 of them gave no answer; 2 of "
        "them although an alarm or a notice names them.",
    ),
    (
        "triage.rest",
        REST | {"named": 1},
        "Nobody else is undecided; 1 named by an alarm or a notice stays open.",
    ),
    (
        "triage.rest",
        REST | {"decided": 20},
        "Everybody is decided (20).",
    ),
    (
        "order.unknown",
        {},
        "times not known",
    ),
    (
        "order.before",
        {},
        "this answer was there first",
    ),
    (
        "order.earlier",
        {},
        "this answer was sent first",
    ),
    (
        "order.after",
        {},
        "the other answer was there first",
    ),
    (
        "order.later",
        {},
        "the other answer was sent first",
    ),
    (
        "order.together",
        {},
        "written at the same time",
    ),
    (
        "workers.nobody_to_compare.said",
        {"workers": 2},
        "2 workers.",
    ),
    (
        "workers.few.said",
        {"workers": 4},
        "4 workers.",
    ),
    (
        "workers.some.said",
        {"workers": 9},
        "9 workers.",
    ),
    (
        "workers.enough.said",
        {"workers": 1200},
        "1,200 workers.",
    ),
    (
        "answers.thin.said",
        {"median": 1, "thin": 1, "count": 7, "fewest": 3},
        "The typical question has 1 answer; 1 of 7 questions has fewer than 3.",
    ),
    (
        "answers.enough.said",
        {"median": 4, "thin": 0, "count": 7, "fewest": 3},
        "The typical question has 4 answers.",
    ),
    (
        "support.all.said",
        {},
        "Everybody answered enough to be ranked.",
    ),
    (
        "support.some.said",
        {"workers": 1, "all": 20},
        "1 worker of 20 answered too little to be ranked.",
    ),
    (
        "convergence.one_pass.said",
        {},
        "Nothing was computed in turns, because there are too few people.",
    ),
    (
        "convergence.settled.said",
        {"count": 1},
        "Yes, after 1 round.",
    ),
    (
        "convergence.settled.said",
        {"count": 5},
        "Yes, after 5 rounds.",
    ),
    (
        "convergence.moving.said",
        {"count": 1},
        "No: after 1 round the grades still changed.",
    ),
    (
        "convergence.moving.said",
        {"count": 100},
        "No: after 100 rounds the grades still changed.",
    ),
    (
        "stability.no_draws.said",
        {},
        "Not known: this run did not try other choices of questions.",
    ),
    (
        "stability.steady.said",
        {"agreement": 0.93},
        "By another choice of questions the order typically agrees with this one by 0.93.",
    ),
    (
        "stability.unsteady.said",
        {"agreement": 0.4},
        "By another choice of questions the order typically agrees with this one by 0.40.",
    ),
    (
        "alarms.not_looked.said",
        {},
        "Not known: the run was computed before Crowdgrade looked for it.",
    ),
    (
        "alarms.ring.said",
        {"count": 1},
        "1 alarm rings.",
    ),
    (
        "alarms.ring.said",
        {"count": 2},
        "2 alarms ring.",
    ),
    (
        "alarms.notices.said",
        {"count": 1},
        "No alarm rings; 1 notice to look at.",
    ),
    (
        "alarms.notices.said",
        {"count": 3},
        "No alarm rings; 3 notices to look at.",
    ),
    (
        "alarms.answered.said",
        {"count": 1, "dismissed": 3},
        "1 alarm or notice is answered by a remedy of this run, 3 dismissed with a reason; "
        "no other is open.",
    ),
    (
        "alarms.answered.said",
        {"count": 2, "dismissed": 0},
        "2 alarms and notices are answered by a remedy of this run; no other is open.",
    ),
    (
        "alarms.dismissed.said",
        {"count": 1},
        "1 alarm was dismissed, with a reason that stands beside it; no other is open.",
    ),
    (
        "alarms.dismissed.said",
        {"count": 2},
        "2 alarms were dismissed, with reasons that stand beside them; no other is open.",
    ),
    (
        "alarms.silent.said",
        {},
        "No alarm rings. That does not prove that nobody copied.",
    ),
    (
        "language.untold.said",
        {"model": "small"},
        "Nobody has said which languages small knows.",
    ),
    (
        "language.untold_model.said",
        {},
        "Nobody has said which languages the model knows.",
    ),
    (
        "language.known.said",
        {"model": "small"},
        "Nothing that was looked at says that small does not know the language of the answers.",
    ),
    (
        "language.of_words.said",
        {},
        "Words or letters were compared. That works in any language, but two words of the "
        "same meaning count as different.",
    ),
    (
        "shortness.long.said",
        {},
        "Most answers are longer than a name or a number.",
    ),
    (
        "experts.nobody.said",
        {},
        "No answer was graded by an expert.",
    ),
    (
        "experts.chose.said",
        GRADED,
        "30 answers drawn at random, graded by an expert. They chose this ranking, so they "
        "cannot confirm it as well.",
    ),
    (
        "experts.no_spread.said",
        GRADED | {"count": 1, "sampled": False},
        "1 answer graded by an expert, but their grades or scores are all the same.",
    ),
    (
        "experts.too_few.said",
        GRADED | {"low": None},
        "30 answers drawn at random, graded by an expert: their grades correlate 0.55 with "
        "the scores (1 is perfect, 0 no relation). Too few to say.",
    ),
    (
        "experts.agree.said",
        GRADED | {"experts": 2, "kappa": 0.61},
        "30 answers drawn at random, graded by 2 experts: their grades correlate 0.55 with "
        "the scores (95% interval 0.20 to 0.80; 1 is perfect, 0 no relation). With each "
        "other they agree by 0.61 (kappa: 1 is fully, 0 by chance).",
    ),
    (
        "experts.unsure.said",
        GRADED,
        "30 answers drawn at random, graded by an expert: their grades correlate 0.55 with "
        "the scores (95% interval 0.20 to 0.80; 1 is perfect, 0 no relation). That may be "
        "chance: the interval reaches down to hardly any agreement.",
    ),
    (
        "experts.differ.said",
        GRADED | {"kappa": 0.1, "apart": True},
        "30 answers drawn at random, graded by an expert: their grades correlate 0.55 with "
        "the scores (95% interval 0.20 to 0.80; 1 is perfect, 0 no relation). With each "
        "other they agree by 0.10 (kappa: 1 is fully, 0 by chance). Nothing can agree much "
        "with experts who agree so little.",
    ),
    (
        "changes.since.said",
        {},
        "No: answers were added, changed or withdrawn since.",
    ),
    (
        "verdict.bad.headline",
        {},
        "Not as it stands.",
    ),
    (
        "verdict.bad.text",
        {"count": 1, "all": 11},
        "1 of 11 checks says stop. Do not pay, reject or publish by these grades before you "
        "have done what stands there. No check can prove a grade right: a grade says how "
        "near somebody is to what this crowd agrees on, not to the truth.",
    ),
    (
        "verdict.care.headline",
        {},
        "Usable with care.",
    ),
    (
        "verdict.care.text",
        {"count": 2, "all": 11},
        "2 of 11 checks ask you to look closer before you decide about people. No check can "
        "prove a grade right: a grade says how near somebody is to what this crowd agrees "
        "on, not to the truth.",
    ),
    (
        "verdict.unknown.headline",
        {},
        "Nothing was found against it, but not everything was checked.",
    ),
    (
        "verdict.unknown.text",
        {"count": 2, "all": 11},
        "2 of 11 checks could not be made. No check can prove a grade right: a grade says "
        "how near somebody is to what this crowd agrees on, not to the truth.",
    ),
    (
        "verdict.good.headline",
        {},
        "Nothing that was checked speaks against it.",
    ),
    (
        "verdict.good.text",
        {"all": 11},
        "All 11 checks are good. No check can prove a grade right: a grade says how near "
        "somebody is to what this crowd agrees on, not to the truth.",
    ),
]


@pytest.mark.parametrize(("code", "values", "sentence"), SENTENCES)
def test_a_code_with_values_is_a_sentence(code, values, sentence):
    assert site_sentence(code, **values) == sentence


@pytest.mark.parametrize(
    "catalogue",
    [SIGNALS, FACTS, DECISION, OUTCOMES, COMPARING, TRIAGE],
    ids=["signals", "facts", "decision", "outcomes", "comparing", "triage"],
)
def test_no_code_of_a_catalogue_lacks_its_sentence_here(catalogue):
    assert catalogue.keys() <= {code for code, _, _ in SENTENCES}


MEASURES = [
    (
        "copies",
        0.9,
        0.5,
        "Where 0% is as alike as workers who are as good and 100% is the same answers, they "
        "are at 90%; an alarm rings above 50%.",
    ),
    ("copies_in_part", 0.3, 0.15, "30% more shared answers than chance; told from 15% on."),
    (
        "clique",
        0.9,
        0.5,
        "Where 0% is as alike as workers who are as good and 100% is the same answers, they "
        "are at 90%; an alarm rings above 50%.",
    ),
    (
        "two_camps",
        5.52,
        3.0,
        "The camps differ by 5.5 times what chance does; an alarm rings above 3.",
    ),
    ("two_camps_of_questions", 0.25, 0.15, "25% of the questions; it rings from 15% on."),
    (
        "leverage",
        0.6,
        0.75,
        "Without this worker the order agrees by 0.60 with the present one; it rings below 0.75.",
    ),
    ("grader_disagreement", 0.31, 0.5, "The two orders agree by 0.31; it rings below 0.50."),
    ("dont_know", 0.9, 0.2, "Up to 90% of a worker's answers; told from 20% on."),
    (
        "model_like",
        4.04,
        3.0,
        "Nearer to the model than to any person by 4.0 times what chance does; told above 3.",
    ),
    (
        "concentrated_weight",
        0.2,
        0.33,
        "The votes weigh as those of 20% of the workers would; told below 33%.",
    ),
    (
        "unstable_ranking",
        0.42,
        0.5,
        "By another choice of questions the order agrees by 0.42; told below 0.50.",
    ),
    ("no_convergence", 0.012, 0.0001, "The last change was 0.01; wanted was 0.0001 or less."),
    (
        "agreement_of_starts",
        -0.2,
        0.5,
        "Started from either camp, the orders agree by -0.20; below 0.50 they contradict "
        "each other.",
    ),
]


def test_every_fact_and_verdict_has_its_sentence_here():
    codes = {code for code, _, _ in SENTENCES}
    facts = {code for code in TRUST if code.endswith((".said", ".headline", ".text"))}
    # What is so says a warning of the run.
    assert {code for code in facts if TRUST[code]} <= codes


@pytest.mark.parametrize(("case", "statistic", "threshold", "sentence"), MEASURES)
def test_a_statistic_and_its_threshold_are_a_sentence(case, statistic, threshold, sentence):
    assert measured(case, statistic, threshold) == sentence


def test_every_measure_is_here_and_is_empty_without_a_number():
    assert {case for case, *_ in MEASURES} == MEASURED.keys()
    assert measured("copies", None, 0.5) == measured("unheard", 0.1, 0.5) == ""


def test_alarms_have_a_title_and_marks_are_shorter():
    assert TITLES == {
        "copies": "Copied or nearly copied answers",
        "copies_in_part": "A part of the answers is shared word for word",
        "clique": "A camp of very similar answers",
        "two_camps": "Two camps in the crowd",
        "two_camps_of_questions": "Two camps on single questions",
        "leverage": "The ranking hangs on one worker",
        "grader_disagreement": "Grading by words alone ranks otherwise",
        "dont_know": "“I don't know”, again and again",
        "model_like": "Answers near to a language model's",
        "concentrated_weight": "Few workers decide",
        "unstable_ranking": "Other questions would give another ranking",
        "no_convergence": "The grades did not settle",
        "too_few": "Too few answers to compare",
        "agreement_of_starts": "Where the grading starts decides who wins",
    }
    assert BRIEFLY == {
        "copies": "answers copied or nearly copied",
        "copies_in_part": "shares some answers word for word",
        "clique": "in a camp of very similar answers",
        "leverage": "the whole ranking hangs on this person",
        "dont_know": "often answers “I don't know”",
        "model_like": "answers near to a language model's",
    }
