"""What a run type declares, and the import of its parts on their first use.

Import the parts of a run type from their dotted names only when they are first used.

A list of run types needs only their names and titles. The parts hold what a run type computes and
shows, and importing the parts of all run types takes seconds.

Define what a run type declares: its options, computation, tables, pages and commands.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from django.utils.module_loading import import_string

from annotations.exchange.samples import find_sample_file
from evaluation.runs.flow.stored import RunSummary

if TYPE_CHECKING:
    from annotations.exchange.reading.source import Source
    from annotations.models import Question, QuestionSet, QuestionSetVersion
    from evaluation.core.charts.chart import Chart
    from evaluation.core.options import Parameters, Problem
    from evaluation.models import Run
    from evaluation.runs.files.asking import AskSettings
    from evaluation.runs.flow.stored import MeasuredObservation, MeasureSource
    from evaluation.runs.judging import Judging
    from evaluation.runs.reports.lists import Table
    from evaluation.runs.steps.asking.preview import RequestForecast
    from evaluation.runs.steps.checkpoints import Turn


Value = TypeVar("Value")

_NEEDED: Any = object()


class LazyField(Generic[Value]):
    """Dataclass field given as an object or its dotted name, which is imported on first use.

    The name is imported when the field is first read. `finish` takes the imported object and the
    declared value, and returns the field's value.
    """

    def __init__(
        self, default: Value = _NEEDED, finish: Callable[[Any, Value], Value] | None = None
    ) -> None:
        self.default, self.finish = default, finish

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.read = name, f"_{name}_read"

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        """Return the field's value, imported if needed; on the class, the descriptor itself.

        Raises ImportError if the dotted name does not exist.
        """
        if instance is None:
            if self.default is _NEEDED:
                raise AttributeError(self.name)  # so that the dataclass asks for a value
            return self
        # Through __dict__: the dataclasses are frozen, and reading the attribute would come back
        # here.
        kept = vars(instance)
        if self.read not in kept:
            value = self.import_declared(kept[self.name])
            kept[self.read] = self.finish(instance, value) if self.finish else value
        found: Value = kept[self.read]
        return found

    def __set__(self, instance: object, value: Value | str) -> None:
        """Store the declared object or dotted name, without importing it."""
        declared: object = value
        vars(instance)[self.name] = self.default if declared is self else declared

    def import_declared(self, declared: Any) -> Value:
        """Return a declared object, imported if it is given by its dotted name."""
        result: Value = import_string(declared) if isinstance(declared, str) else declared
        return result

    def iterate_dotted_names(self, declared: Any) -> Iterator[str]:
        """Yield the declared value if it is a dotted name."""
        if isinstance(declared, str):
            yield declared


class LazyFields(LazyField[Value]):
    """Dataclass field of a mapping or tuple whose values are objects or dotted names."""

    def __set__(
        self, instance: object, value: Value | str | tuple[str, ...] | Mapping[str, str]
    ) -> None:
        """Store the declared values or dotted names, without importing them."""
        super().__set__(instance, value)  # type: ignore[arg-type]

    def import_declared(self, declared: Any) -> Value:
        """Return the declared mapping or tuple, with each dotted name replaced by its object."""
        whole: Any = super().import_declared(declared)
        each = super().import_declared
        if isinstance(whole, Mapping):
            whole = {key: each(one) for key, one in whole.items()}
        else:
            whole = tuple(each(one) for one in whole)
        result: Value = whole
        return result

    def iterate_dotted_names(self, declared: Any) -> Iterator[str]:
        """Yield the declared value if it is a dotted name, else the dotted names in it."""
        if isinstance(declared, str):
            yield declared
            return
        for one in declared.values() if isinstance(declared, Mapping) else declared:
            yield from super().iterate_dotted_names(one)


def has_part(instance: object, name: str) -> bool:
    """Return whether a lazy field of an object is declared and not empty; imports nothing."""
    return bool(vars(instance)[name])


def list_part_names(instance: object) -> dict[str, tuple[str, ...]]:
    """Return the dotted names that an object's lazy fields declare, by field name."""
    return {
        name: tuple(field.iterate_dotted_names(vars(instance)[name]))
        for name, field in vars(type(instance)).items()
        if isinstance(field, LazyField)
    }


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Page:
    """A result page that a run type offers for its finished runs.

    Attributes
    ----------
    slug : part of the URL; "" for the first page, whose URL is that of the results.
    template : template that extends "evaluation/kind_base.html" and fills its block `results`.
    context : takes a run and returns the template context.
    paged : in place of `context`, for a list in several pages: takes the run and the index, from
        0, of the first entry of the page, which is `after` in the URL.
    address : name of a URL whose view renders the page, for pages that need more than the run:
        query parameters, images, a confirmation. Template and context are then unused.
    group : pages of one group share one tab, which links to the first of them; "" for a page with
        a tab of its own.
    offered : whether a run has the data of the page; if not, its tabs leave the page out.
    """

    slug: str
    title: str
    template: str = ""
    context: Callable[[Run], Mapping[str, Any]] = field(default=lambda _: {})
    paged: Callable[[Run, int], Mapping[str, Any]] | None = None
    address: str = ""
    group: str = ""
    offered: Callable[[Run], bool] = field(default=lambda _: True)


@dataclass(frozen=True)
class DataReadiness:
    """Whether a question set has the data that a run type needs, with a sentence on these data."""

    words: str
    ready: bool = True


@dataclass(frozen=True, kw_only=True)
class StartFile:
    """A file that users can upload on the start page of a run type.

    Attributes
    ----------
    name : name of the form field. title, words : label of the file, and description of its content.
    accept : file endings and media types that the page offers.
    switches : labels of the upload's checkboxes, by name.
    upload : slug of an upload kind (`annotations.web.upload_kinds`), whose options are the
        switches; the page shows a preview before anything is stored.
    take : without `upload`, reads the file at once into a question set; takes the switches and the
        primary key of the user; returns lines on what was read. Raises
        `annotations.exchange.InputError`.
    """

    name: str
    title: str
    words: str
    take: Callable[[QuestionSet, Source, Mapping[str, bool], int], Sequence[str]] | None = None
    upload: str = ""
    accept: str = ".csv,.tsv,.json,.jsonl,.xlsx"
    switches: Mapping[str, str] = field(default_factory=dict)
    most_bytes: int = 20 * 1024**2

    @property
    def sample(self) -> str:
        """Static path of a sample file to download; "" without one."""
        return find_sample_file(self.upload or self.name)


@dataclass(frozen=True, kw_only=True)
class Start:
    """The page on which users start a run of a type: options, files and notes.

    Attributes
    ----------
    words : sentence on the purpose of the run.
    before : takes a version (None if the set has none) and returns a sentence on its data for the
        run type; None shows nothing.
    files : files that can be uploaded on the page before the start.
    foreseen : takes a version, a user and valid options, and returns a forecast of the run's
        requests, which the page shows before anything is sent.
    address : name of a URL whose page starts the run instead, if a form of the options does not
        suffice, such as for a mandatory preview; it takes the public id of a question set, and
        `version`. The other attributes are then unused.
    """

    words: str = ""
    before: Callable[[QuestionSetVersion | None], DataReadiness | None] | None = None
    files: tuple[StartFile, ...] = ()
    foreseen: Callable[[QuestionSetVersion, Any, Any], RequestForecast] | None = None
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command-line command of a run type that works on files.

    Attributes
    ----------
    help, description, epilog : texts of the command's help.
    groups : groups of options that the help lists separately, with a sentence for each.
    add_arguments : adds the arguments that are no options of the run type.
    """

    help: str
    description: str
    epilog: str
    add_arguments: Callable[[ArgumentParser], None]
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Evaluation(Command):
    """The command ``manage.py evaluate NAME``, which reads files and writes tables.

    Attributes
    ----------
    run : takes the options, all arguments by name, and a function that reports progress; writes
        the files and returns the report for the terminal.
    """

    run: LazyField[Callable[[Any, Mapping[str, Any], Progress], str]] = LazyField()


@dataclass(frozen=True)
class StudyOutcome:
    """Result of a study on the command line: text to print, and whether all replies arrived."""

    said: str
    complete: bool


@dataclass(frozen=True, kw_only=True)
class Study(Command):
    """The command ``manage.py study NAME``, which asks a model and evaluates its replies.

    The command adds the arguments of ``manage.py ask`` (model, sampling, rate and cost limits)
    except those that are options of the run type.

    Attributes
    ----------
    run : takes the options, all arguments by name, the settings of requests, and a function that
        reports progress. It sends requests by a `StudyFolder` and does not catch its
        `EndedEarlyError`; the same command continues the study.
    """

    run: LazyField[Callable[[Any, Mapping[str, Any], AskSettings, Progress], StudyOutcome]] = (
        LazyField()
    )


def _add_judgement_tables(
    kind: Kind, tables: Mapping[str, Callable[[Run], Table]]
) -> Mapping[str, Callable[[Run], Table]]:
    """Return a run type's tables, with one for each of its declarations of expert judgements."""
    if not kind.judging:
        return tables
    from evaluation.runs.reports.judging import build_judgement_table

    return {
        **tables,
        **{one.name: partial(build_judgement_table, judging=one) for one in kind.judging},
    }


@dataclass(frozen=True, eq=False)
class Kind:
    """A run type with everything that it declares, from options to pages; compared by identity.

    Each `LazyField`, and each value of `LazyFields`, may be given by its dotted name, such as
    "evaluation.maqa.report.build_report", which is imported at its first use, so that lists of run
    types import none of these modules.

    Attributes
    ----------
    name : name in stored runs, URLs and on the command line; at most 20 characters.
    title, words : label, and description in a sentence.
    options : class of a run's options; forms, REST API, commands and signatures use it.
    run : continues a claimed run until it is done, or raises `OutOfTimeError` at the end of the
        turn; the data stored by then are its checkpoint. Raises `RunInputError` for faults that the
        requester can correct. It ends with `Turn.finish_run`. None: a run type for files only.
    summary : class of `Run.summary`. counts : returns the numbers of a finished run's inputs, if
        the summary does not contain them.
    tables : functions that read a finished run's tables row by row, by name, as in URLs.
    columns : descriptions of columns that `run_types.data_sheets` lacks, by name, or by table and
        name ("items.score"), for the README of the download.
    files : further files of a run's download as bytes, by name.
    charts : charts to download by name, as in URLs; each returns None without data.
    report : returns the results of a run as a dataclass; None if the summary suffices.
    text : returns the results as text for the terminal; None prints the tables.
    pages : result pages of a finished run; without any, its report and tables are shown.
    named : returns the names behind the ids in a run's options, by option.
    standing : additional part of the run's page, also during the run, such as the progress of each
        model. Its template is a fragment.
    judging : items of a finished run that experts judge blindly; each has a page to draw a random
        sample and ask experts, and a table of the judgements.
    asks : whether its runs begin with model requests, and thus in the asking lane.
    needs_answers : whether a version without an answer is refused.
    reads_answers : whether workers' answers are read if there are any.
    check : takes a version, the user and the options; returns the problems that only the database
        shows. Every start of a run calls it, from any interface.
    evaluate, study : commands of the run type on files.
    action : label of the start button; "" for the title.
    is_research : whether a set's page lists it among further analyses, which are collapsed.
    suits : takes some questions of a set; returns whether the run type is made for such questions.
    start : page that starts a run.
    views : measures of models and questions in its tables, and in the files of `evaluate`, for the
        model overview, which shows those of all run types.
    """

    name: str
    title: str
    words: str
    options: LazyField[type[Parameters]] = LazyField()
    run: LazyField[Callable[[Turn], None] | None] = LazyField(None)
    summary: LazyField[type[RunSummary]] = LazyField(RunSummary)
    tables: LazyFields[Mapping[str, Callable[[Run], Table]]] = LazyFields(
        {}, finish=_add_judgement_tables
    )
    columns: LazyField[Mapping[str, str]] = LazyField({})
    files: LazyField[Callable[[Run], Mapping[str, bytes]] | None] = LazyField(None)
    charts: LazyField[Mapping[str, Callable[[Run], Chart | None]]] = LazyField({})
    report: LazyField[Callable[[Run], Any] | None] = LazyField(None)
    text: LazyField[Callable[[Run], str] | None] = LazyField(None)
    pages: LazyFields[tuple[Page, ...]] = LazyFields(())
    named: LazyField[Callable[[Run], Mapping[str, str]] | None] = LazyField(None)
    standing: LazyField[Page | None] = LazyField(None)
    judging: LazyFields[tuple[Judging, ...]] = LazyFields(())
    asks: bool = False
    needs_answers: bool = True
    reads_answers: bool = False
    check: LazyField[Callable[[QuestionSetVersion, Any, Any], Sequence[Problem]] | None] = (
        LazyField(None)
    )
    evaluate: LazyField[Evaluation | None] = LazyField(None)
    study: LazyField[Study | None] = LazyField(None)
    action: str = ""
    is_research: bool = False
    suits: LazyField[Callable[[Sequence[Question]], bool] | None] = LazyField(None)
    start: LazyField[Start] = LazyField(Start())
    views: LazyField[tuple[MeasureSource, ...]] = LazyField(())
    counts: LazyField[Callable[[Run], Mapping[str, int]] | None] = LazyField(None)

    @property
    def has_runs(self) -> bool:
        """Whether the run type has runs or only works on files; imports nothing."""
        return has_part(self, "run")

    @property
    def has_evaluate_command(self) -> bool:
        """Whether ``manage.py evaluate NAME`` exists for the run type; imports nothing."""
        return has_part(self, "evaluate")

    @property
    def has_study_command(self) -> bool:
        """Whether ``manage.py study NAME`` exists for the run type; imports nothing."""
        return has_part(self, "study")

    @property
    def has_measures(self) -> bool:
        """Whether its tables hold measures of models or questions; imports nothing."""
        return has_part(self, "views")

    @property
    def reads_worker_answers(self) -> bool:
        """Whether runs of this type read workers' answers."""
        return self.needs_answers or self.reads_answers

    @property
    def start_label(self) -> str:
        """Text of the button that starts a run of this type."""
        return self.action or self.title

    def stores_summary(self, summary: type[RunSummary]) -> bool:
        """Return whether runs of this type store a summary of this class."""
        return issubclass(self.summary, summary)

    def load_summary(self, run: Run) -> RunSummary:
        """Return a run's stored summary as an object of the run type's summary class."""
        return self.summary.from_json(run.summary)

    def get_input_counts(self, run: Run) -> Mapping[str, int]:
        """Return the numbers of inputs of a finished run by name, such as questions."""
        return self.counts(run) if self.counts else self.load_summary(run).get_shown_counts()

    def load_result(self, run: Run) -> Any:
        """Return the result of a finished run as a dataclass: its report, else its summary."""
        return self.report(run) if self.report else self.load_summary(run)

    def read_observations(self, run: Run) -> Iterator[MeasuredObservation]:
        """Yield a finished run's observations for each measure of the run type, table by table."""
        from evaluation.runs.flow.stored import read_measures

        for name in dict.fromkeys(viewed.table for viewed in self.views):
            table = self.tables[name](run)
            here = [viewed for viewed in self.views if viewed.table == name]
            yield from read_measures(here, table.header, table.rows)
