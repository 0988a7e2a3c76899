"""Options of a grading, declared once for command line, REST API and admin site."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from evaluation.consensus.option_problems import SENTENCES
from evaluation.core.backends import (
    BackendError,
    find_embedder_kind,
    find_model_name,
    find_reserved_kind,
    parse_embedder_spec,
)
from evaluation.core.options import (
    ChoiceOption,
    FloatOption,
    IdsOption,
    IntegerOption,
    Parameters,
    Problem,
    SwitchOption,
    TextOption,
    build_problem,
    declare_option,
)
from evaluation.core.options.declaration import ADVANCED, BASIC, NOT_SIGNED, get_model_name
from evaluation.core.options.parameters import compute_short_hash
from evaluation.core.text.quality import LANGUAGES

if TYPE_CHECKING:
    from evaluation.consensus import AQER

REMEDIES = "remedies"
# More draws would only cost time: the ends of an interval no longer move.
MOST_DRAWS = 100_000


@cache
def _list_estimator_parameters() -> frozenset[str]:
    """Return the parameter names of the estimator `AQER`, which the first call imports."""
    from evaluation.consensus import AQER

    return frozenset(inspect.signature(AQER).parameters)


def _format_collapsed_workers(workers: tuple[str, ...]) -> str:
    """Return the signature's text on workers merged into one vote; "" if no ids are listed."""
    return f"-of-{len(workers)}-{compute_short_hash(sorted(workers))}" if workers else ""


def _check_embedder(spec: str) -> Problem | None:
    """Return the problem of an embedder specification that cannot be read; None if it can."""
    try:
        parse_embedder_spec(spec)
    except BackendError as error:
        return build_problem("unreadable", "embedder", reason=str(error))
    return None


def build_draws_option(what: str, **other: Any) -> IntegerOption:
    """Return the option for the number of bootstrap draws of `what`: 0, or 2 to 100,000."""
    return IntegerOption(
        label="Bootstrap draws",
        help=f"Draws of {what} for the 95% intervals; 0 for none.",
        lowest=2,
        highest=MOST_DRAWS,
        or_zero=True,
        why="one draw shows nothing",
        signed_as="draws",
        **other,
    )


SEED_OF_DRAWS = IntegerOption(
    label="Seed",
    help="Of the draws: the same seed gives the same intervals again.",
    highest=2**63 - 1,
)


@dataclass(frozen=True)
class AqerParameters(Parameters):
    """Options of a grading run, with defaults: embedding, method, bootstrap and remedies.

    `bootstrap` is the number of draws; fields with the name of a parameter of `AQER` are that
    parameter. Options of the group "remedies" are off by default; a run with a remedy is compared
    with a run without. `exclude_workers` are external ids of workers; runs of the database also
    accept public ids.
    """

    embedder: str = declare_option(
        "minilm",
        TextOption(
            label="How texts become vectors",
            help="Two answers are as similar as their vectors.",
            group=BASIC,
            suggestions={
                "minilm": "MiniLM: meaning of sentences, English, comes with the platform",
                "tfidf-word": "Words, weighted by rarity (TF-IDF): any language, no meaning",
                "tfidf-char": "Letters in groups, weighted by rarity (TF-IDF): tolerates "
                "misspelling",
                "bow": "Bag of words: what the majority vote needs",
            },
            other_label="Another embedder",
            other_help="Such as sentence-transformers:all-mpnet-base-v2. The worker must have it. "
            "Operators may name a server or a file as well.",
            test=_check_embedder,
            reserved=find_reserved_kind,
            loads=find_model_name,
            short="{value}",
            metavar="SPEC",
        ),
    )
    precision: str = declare_option(
        "float32",
        ChoiceOption(
            label="Precision",
            help="Of the model that makes the vectors.",
            choices={
                "float32": "float32: exact",
                "bfloat16": "bfloat16: faster where the processor has it",
                "auto": "auto: bfloat16 where the processor has it",
            },
        ),
    )
    similarity: str = declare_option(
        "cosine",
        ChoiceOption(
            label="Similarity",
            help="Between an answer and the exemplary answer.",
            choices={"cosine": "cosine", "euclidean": "Euclidean distance, negative"},
        ),
    )
    init: str = declare_option(
        "equal",
        ChoiceOption(
            label="First weights",
            help="Where the iteration starts.",
            choices={
                "equal": "equal for all workers",
                "random": "random, by the seed",
                "entailment": "by entailment among the answers",
            },
            sign=lambda values: (
                f"entailment({values.nli})" if values.init == "entailment" else values.init
            ),
        ),
    )
    nli: str | None = declare_option(
        None,
        TextOption(
            label="Entailment model",
            help="The name or folder of a cross-encoder that the background process has. With "
            "{facts} it finds answers that contradict the exemplary one, without effect on grades; "
            "with {init:entailment} it makes the first weights instead. One trained for 7 minutes "
            "found contradictions with an AUC of .59 (95% .49 to .66; chance .50).",
            optional=True,
            loads=get_model_name,
            signed_as=NOT_SIGNED,
            metavar="NAME",
        ),
    )
    aggregation: str = declare_option(
        "mean",
        ChoiceOption(
            label="How answers become the exemplary one",
            help="The majority needs {embedder:bow}.",
            choices={
                "mean": "weighted mean of the vectors",
                "majority": "weighted majority of each word",
            },
            short="{value}",
        ),
    )
    stopping: str = declare_option(
        "relative",
        ChoiceOption(
            label="Stopping rule",
            help="Stop when the RMSE of the weights (paper), or that times the number of workers "
            "(relative), is below the tolerance. The paper's rule stops at once with many workers.",
            choices={
                "relative": "relative: change small for the number of workers",
                "paper": "as in the paper: mean change small",
            },
            sign=lambda values: f"{values.stopping}({values.tolerance:g})",
            short="stopping {value}",
        ),
    )
    tolerance: float = declare_option(
        1e-6,
        FloatOption(
            label="Tolerance",
            help="What the stopping rule takes for small.",
            lowest=0.0,
            signed_as=NOT_SIGNED,
        ),
    )
    max_iterations: int = declare_option(
        100,
        IntegerOption(
            label="Most iterations",
            help="The run stops there even if the weights still change, and then warns.",
            lowest=1,
            highest=1_000_000,
            signed_as="iterations",
        ),
    )
    leave_one_out: bool = declare_option(
        False,
        SwitchOption(
            label="Leave one out",
            help="Compare an answer with the exemplary answer of the others. Fairer with few "
            "workers a question.",
            negatable=True,
        ),
    )
    difficulty: bool = declare_option(
        False,
        SwitchOption(
            label="Take out difficulty",
            help="Workers who met hard questions are not graded down for them.",
            negatable=True,
        ),
    )
    discrimination: bool = declare_option(
        False,
        SwitchOption(
            label="Weight by discrimination",
            help="Questions that part good workers from bad ones count more.",
            negatable=True,
        ),
    )
    question_contrast: bool = declare_option(
        False,
        SwitchOption(
            label="Question contrast",
            help="Raw scores and grades are how much better an answer agrees with its own question "
            "than with the others: text that fits every question earns 0.",
            negatable=True,
            sign=lambda values: "yes" if values.question_contrast else "",
        ),
    )
    include_rejected: bool = declare_option(
        False,
        SwitchOption(
            label="Grade rejected answers too",
            help="Those that were refused where they were collected; else they are left out.",
            negatable=True,
            signed_as="rejected",
            sign=lambda values: "graded" if values.include_rejected else "left_out",
        ),
    )
    bootstrap: int = declare_option(400, build_draws_option("questions", group=BASIC))
    bootstrap_workers: bool = declare_option(
        False,
        SwitchOption(
            label="Draw workers too",
            help="Wider intervals, as if other people of the kind had answered.",
            signed_as="draws_of",
            sign=lambda values: "questions+workers" if values.bootstrap_workers else "questions",
        ),
    )
    seed: int = declare_option(
        0,
        IntegerOption(
            label="Seed",
            help="Of everything random: the same seed gives the same numbers again.",
            highest=2**63 - 1,
        ),
    )
    exclude_workers: tuple[str, ...] = declare_option(
        (),
        IdsOption(
            label="Exclude workers",
            help="Ids of workers to leave out, as in the lists of workers. They get no vote, no "
            "grade and no rank, and are not rejected.",
            group=REMEDIES,
            file="workers who do not vote and get no grade: their ids, parted by commas, or a file "
            "with an id on each line or a table with the column worker",
            metavar="FILE|ID,...",
            short="without {value}",
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    collapse_copies: bool = declare_option(
        False,
        SwitchOption(
            label="Collapse copies",
            help="Let each group of workers who copy from each other vote as one. A group that may "
            "be a camp of its own is left alone: experts' grades settle that.",
            group=REMEDIES,
            signed_as=REMEDIES,
            gathered=True,
            sign=lambda values: (
                f"{values.group_vote:g}{_format_collapsed_workers(values.collapse_workers)}"
            ),
        ),
    )
    collapse_workers: tuple[str, ...] = declare_option(
        (),
        IdsOption(
            label="Only the groups of",
            help="One worker's own id is enough for a group. Left empty, every group that is found "
            "votes as one; only with {collapse_copies}.",
            group=REMEDIES,
            only_with=("collapse_copies", True),
            file="let only the groups of copies vote as one that these workers belong to: their "
            "ids, parted by commas, or a file with an id on each line or a table with the column "
            "worker",
            metavar="FILE|ID,...",
            signed_as=NOT_SIGNED,
        ),
    )
    group_vote: float = declare_option(
        0.25,
        FloatOption(
            label="Vote of such a group",
            help="Compared with 1 of a single worker; only with {collapse_copies}.",
            group=REMEDIES,
            above=0.0,
            highest=1.0,
            only_with=("collapse_copies", True),
            empty_is_default=True,
            signed_as=NOT_SIGNED,
            short="vote of a group {value}",
        ),
    )
    weight_cap: float | None = declare_option(
        None,
        FloatOption(
            label="Most weight of a worker",
            help="A part of all votes, such as .1, so that no worker decides alone. "
            "It cannot be less than one divided by the number of workers.",
            group=REMEDIES,
            optional=True,
            above=0.0,
            highest=1.0,
            signed_as=REMEDIES,
            gathered=True,
            sign=lambda values: str(values.weight_cap),
        ),
    )
    anchors: bool = declare_option(
        False,
        SwitchOption(
            label="Use experts' grades",
            help="Where the crowd falls into camps, the ranking that agrees best with the grades "
            "of experts is taken.",
            group=REMEDIES,
            file="answers graded by an expert (worker, question, grade), which settle which camp "
            "is right where the crowd falls into camps",
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    suggest_anchors: int = declare_option(
        0,
        IntegerOption(
            label="Answers to suggest",
            help="Name so many answers for experts to grade; 6 to 8 are enough, 0 for none.",
            group=REMEDIES,
            lowest=2,
            highest=100_000,
            or_zero=True,
            why="one grade cannot be compared",
            short="{value} answers to suggest",
            empty_is_default=True,
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    camps: bool = declare_option(
        False,
        SwitchOption(
            label="Several right answers",
            help="For questions with more than one right answer: where answers fall in two camps, "
            "each is compared with the nearer one. A common error then counts as right, too.",
            group=REMEDIES,
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    unit_length: bool = declare_option(
        False,
        SwitchOption(
            label="Vectors of unit length",
            help="So that no answer counts more because its vector is long. It mends noise, and "
            "makes a group that errs together stronger.",
            group=REMEDIES,
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    spelling: str | None = declare_option(
        None,
        ChoiceOption(
            label="Correct the spelling",
            help="Of a language, before texts become vectors. The worker must have the extra "
            "“spelling”.",
            group=REMEDIES,
            optional=True,
            choices=dict.fromkeys(LANGUAGES, ""),
            short="spelling corrected ({value})",
            implied="en",
            metavar="LANGUAGE",
            signed_as=REMEDIES,
            gathered=True,
        ),
    )
    facts: bool = declare_option(
        True,
        SwitchOption(
            label="Facts",
            help="Read years, numbers and names out of the answers, and show what the crowd "
            "agrees on and which answers contradict it. Grades do not change.",
            negatable=True,
            signed_as=NOT_SIGNED,
        ),
    )

    groups: ClassVar = {
        ADVANCED: "More settings",
        REMEDIES: "Against groups that copy or err together",
    }
    sentences: ClassVar = SENTENCES

    @property
    def has_contradiction_check(self) -> bool:
        """Whether an entailment model checks for answers that contradict the exemplary answer.

        False if the model computes the first weights, as it may know entailment only.
        """
        return self.facts and bool(self.nli) and self.init != "entailment"

    @property
    def remedies(self) -> tuple[str, ...]:
        """Names of the remedies (options against bad data) that are not at their default."""
        return tuple(
            name
            for name, known in self.get_options().items()
            if known.group == REMEDIES and known.gathered and getattr(self, name) != known.default
        )

    @property
    def score_name(self) -> str:
        """Name of the worker score: raw, in-sample or adjusted score, or question contrast."""
        if self.question_contrast:
            return "question contrast"
        if self.difficulty or self.discrimination:
            return "adjusted score"
        return "raw score" if self.leave_one_out else "in-sample score"

    def reset_remedies(self) -> Self:
        """Return a copy with all remedies at their defaults, for the comparison run."""
        options = self.get_options().items()
        return replace(
            self, **{name: known.default for name, known in options if known.group == REMEDIES}
        )

    def build_estimator(self) -> AQER:
        """Return an unfitted `AQER` with these options, without remedies that need the crowd."""
        from evaluation.consensus import AQER

        return AQER(**self.list_estimator_options())

    def list_estimator_options(self) -> dict[str, Any]:
        """Return these options as keyword arguments of `AQER`."""
        known = _list_estimator_parameters()
        own = {name: getattr(self, name) for name in self.get_options() if name in known}
        return {**own, "n_draws": self.bootstrap}

    def find_conflicts(self) -> Iterator[Problem]:
        """Yield a problem for each pair of options that exclude each other."""
        kind = find_embedder_kind(self.embedder)
        if kind == "precomputed" and self.precision == "bfloat16":
            yield build_problem("precision_of_file", "precision")
        if self.init == "entailment" and not self.nli:
            yield build_problem("nli_needed", "init")
        if self.nli and self.init != "entailment" and not self.facts:
            yield build_problem("nli_idle", "nli")
        if self.aggregation == "majority" and kind not in ("bow", "precomputed"):
            yield build_problem("majority_needs_bow", "aggregation")
        if self.question_contrast and self.similarity != "cosine":
            yield build_problem("contrast_needs_cosine", "question_contrast")
        if self.question_contrast and (self.aggregation != "mean" or self.camps):
            yield build_problem("contrast_needs_mean_vote", "question_contrast")
        if self.question_contrast and (self.difficulty or self.discrimination):
            yield build_problem("contrast_of_plain_means", "question_contrast")
        if self.camps and (self.anchors or self.suggest_anchors):
            yield build_problem("camps_or_anchors", "camps")
        if self.unit_length and self.aggregation == "majority":
            yield build_problem("unit_length_of_mean", "unit_length")
        if self.spelling is not None and kind == "precomputed":
            yield build_problem("spelling_of_vectors", "spelling")
