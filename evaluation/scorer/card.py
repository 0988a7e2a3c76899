"""Dataset card of an exported scorer: front matter, datasheet sections, and how it is used.

The card states what the run recorded. What it did not record is "not stated", never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from evaluation.consensus.methods.percentiles import FEWEST_FOR_PERCENTILE
from evaluation.grading.results.messages import CONSENSUS_LIMITS
from evaluation.scorer.messages import LEFT_OUT, NO_FACTS
from evaluation.scorer.run import ScorerContent
from evaluation.scorer.runtime.facts import FEWEST_PEOPLE
from evaluation.scorer.table import (
    COLUMNS,
    PARQUET,
    ParquetFile,
    format_column_type,
    iterate_feature_lines,
)

UNKNOWN = "not stated"
# Identifiers of licences that Hugging Face knows, of those used for data or for code with data.
LICENCES = (
    *("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "gpl-3.0", "agpl-3.0", "mpl-2.0"),
    *("cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
    *("cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0"),
    *("cc-by-nc-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0"),
    *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "odc-by", "odbl", "pddl", "c-uda"),
    *("cdla-sharing-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "etalab-2.0"),
    *("eupl-1.2", "gfdl", "unlicense"),
)
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
LANGUAGE = re.compile(r"[a-z]{2,3}")


def build_card(
    content: ScorerContent, formats: Sequence[str], table: ParquetFile | None = None
) -> str:
    """Return the dataset card (README.md) of an export; `table` is its Parquet file, if any."""
    lines = [*_iterate_front_matter(content, table), *_iterate_body(content, formats, table)]
    return "\n".join(lines)


def _iterate_front_matter(content: ScorerContent, table: ParquetFile | None) -> Iterator[str]:
    """Yield the lines of the front matter that Hugging Face reads."""
    origin = content.origin
    licence = "-".join(origin.licence.lower().split())
    yield "---"
    if licence in LICENCES:
        yield f"license: {licence}"
    elif origin.licence.strip():
        name = "-".join(re.findall(r"[a-z0-9.]+", licence)) or "other"
        yield from ("license: other", f"license_name: {json.dumps(name)}")
    else:
        yield "license: unknown"
    languages = dict.fromkeys(tag.partition("-")[0].lower() for tag in origin.languages)
    known = [tag for tag in languages if LANGUAGE.fullmatch(tag)]
    if known:
        # In quotes, because YAML reads no as false.
        yield from ("language:", *(f"- {json.dumps(tag)}" for tag in known))
    yield f"pretty_name: {json.dumps(_join_lines(origin.title), ensure_ascii=False)}"
    size = next((name for most, name in SIZES if len(content.questions) < most), "100K<n<1M")
    yield from ("size_categories:", f"- {size}", "task_categories:", "- question-answering")
    yield from ("tags:", "- crowdgrade", "- human-consensus")
    if table is not None:
        yield from ("configs:", "- config_name: default", "  data_files:", "  - split: test")
        yield f"    path: {PARQUET}"
        yield from (
            "dataset_info:",
            "  config_name: default",
            "  features:",
            *iterate_feature_lines(),
        )
        yield from ("  splits:", "  - name: test", f"    num_bytes: {table.n_bytes}")
        yield f"    num_examples: {table.n_rows}"
        yield f"  download_size: {len(table.content)}"
        yield f"  dataset_size: {table.n_bytes}"
    yield from ("---", "")


def _iterate_body(
    content: ScorerContent, formats: Sequence[str], table: ParquetFile | None
) -> Iterator[str]:
    """Yield the lines of the dataset card after its front matter."""
    origin = content.origin
    yield from (f"# {_join_lines(origin.title)}: what people answer", "")
    yield (
        f"{len(content.questions):,} questions, each with the consensus of the people who answered "
        "it. An answer of a language model is scored by its similarity to that consensus."
    )
    yield ""
    for text in (origin.description, origin.notice):
        if text.strip():
            yield from (_join_lines(text), "")
    yield from _iterate_usage(content, formats)
    if table is not None:
        yield from _iterate_structure()
    yield from _iterate_motivation_and_composition(content)
    yield from _iterate_collection(content)
    yield from _iterate_personal_data(content)
    yield from _iterate_remaining_sections(content)


def _iterate_usage(content: ScorerContent, formats: Sequence[str]) -> Iterator[str]:
    """Yield the section on how to load and use the folder in each tool."""
    name = content.options.name
    yield from ("## Use", "")
    if "hf" in formats:
        yield from ("Load the questions (package `datasets`):", "", "```python")
        yield from ("from datasets import load_dataset", "")
        yield "# A copy of this folder, or the name of its repository."
        yield from ('questions = load_dataset(".", split="test")', "```", "")
    yield "Score answers, in this folder (`pip install -r requirements.txt` first):"
    yield ""
    if "inspect" in formats:
        yield "- Inspect: `inspect eval task.py --model MODEL`"
    if "lm-eval" in formats:
        yield f"- lm-evaluation-harness: `lm_eval --include_path . --tasks {name} --model MODEL`"
    if "promptfoo" in formats:
        yield "- promptfoo: name a provider in promptfooconfig.yaml, then `promptfoo eval`"
        yield "- pytest: `from assertion import assert_like_people`"
    yield (
        "- Python: `from crowd_scorer.evaluation.scorer.runtime.scoring import load_scorer`, then "
        '`load_scorer(".").score(QUESTION_ID, ANSWER)`'
    )
    yield from ("", "| score | meaning |", "|---|---|")
    yield "| similarity | cosine of the answer to the exemplary answer, at most 1 |"
    yield (
        "| percentile | of the answer among the people who answered the question; none below "
        f"{FEWEST_FOR_PERCENTILE} ranked people |"
    )
    yield "| contradicted | values that contradict a value on which people agree |"
    yield (
        "| model_percentile | of the mean similarity among people; empty unless all questions "
        "were answered and none was left out |"
    )
    yield ""


def _iterate_structure() -> Iterator[str]:
    """Yield the section on the columns of the Parquet file."""
    yield from ("## Structure", "")
    yield f"`{PARQUET}` has a row for each question, in one split, `test`: do not train on it."
    yield from ("", "| column | type | content |", "|---|---|---|")
    for column in COLUMNS:
        yield f"| `{column.name}` | {format_column_type(column)} | {column.meaning} |"
    yield ""


def _iterate_motivation_and_composition(content: ScorerContent) -> Iterator[str]:
    """Yield the first two sections of the datasheet, after Gebru et al., Datasheets for Datasets.

    Numbers of people and answers are those of the run, of which questions may be left out.
    """
    origin, options, questions = content.origin, content.options, content.questions
    yield from _iterate_section(
        "Motivation",
        [
            "The folder compares answers of language models with what people answered to the same "
            "questions.",
            "The exemplary answer of a question is the weighted mean of the vectors of people's "
            "answers. AQER gives more weight to people who agree with the others.",
            f"Who made the data set, and who paid for it: {UNKNOWN}",
        ],
    )
    left_out = [f"{n:,} ({LEFT_OUT[code]})" for code, n in content.left_out.items()]
    counts = [question.n_answers for question in questions]
    n_placed = sum(len(question.worker_scores) >= FEWEST_FOR_PERCENTILE for question in questions)
    n_facts = sum(question.facts is not None for question in questions)
    facts = NO_FACTS[content.facts_reason] if content.facts_reason else f"on {n_facts:,} questions"
    yield from _iterate_section(
        "Composition",
        [
            f"Questions: {len(questions):,}"
            + (f"; left out: {', '.join(left_out)}" if left_out else ""),
            f"People: {origin.n_workers:,}, with {origin.n_answers:,} answers in the graded run; "
            f"{len(content.worker_scores):,} of them are ranked",
            f"Answers to a question: {min(counts):,} to {max(counts):,}",
            f"Percentiles: on {n_placed:,} questions",
            f"Languages: {', '.join(origin.languages) or UNKNOWN}",
            f"Facts: {facts}",
            "People's answers: the answer nearest to the exemplary one of each question"
            if options.with_answers
            else "People's answers: none",
        ],
    )


def _iterate_collection(content: ScorerContent) -> Iterator[str]:
    """Yield the section on how the answers were collected, and on what consent."""
    origin, options = content.origin, content.options
    first, last = origin.collected
    times = (
        f"; {origin.n_timed:,} of {origin.n_answers:,} answers have a time"
        if origin.n_timed < origin.n_answers
        else ""
    )
    lines = [f"Collected: {f'{first} to {last}{times}' if first else UNKNOWN}"]
    if origin.n_consents is None:
        lines.append("Consent: none is recorded with the answers")
    else:
        lines.append(
            f"Consent: {origin.n_consents:,} of {origin.n_workers:,} people agreed to a consent "
            "text on the site"
            + ("" if origin.n_consents >= origin.n_workers else "; none is recorded of the others")
        )
        if origin.consent_text:
            lines.append(f"Consent text: “{_join_lines(origin.consent_text)}”")
    lines.append(
        "Basis for publishing answers, as stated for this export: "
        f"{_join_lines(options.consent_basis)}"
        if options.with_answers
        else "Basis for publishing answers: not needed, no answer is included"
    )
    if origin.n_withdrawn:
        lines.append(
            f"Withdrawn since the run: {origin.n_withdrawn:,} answers. They still count in the "
            "exemplary answers; grade again to leave them out."
        )
    lines.append(f"Recruitment, pay, instructions and ethical review: {UNKNOWN}")
    yield from _iterate_section("Collection process", lines)


def _iterate_personal_data(content: ScorerContent) -> Iterator[str]:
    """Yield the section on what the export holds of people."""
    has_answers = content.options.with_answers
    texts = "questions, passages and answers" if has_answers else "questions and passages"
    yield from _iterate_section(
        "Personal data",
        [
            "Ids and demographics of people: none",
            "Scores of people: of each question, and over all questions (`crowd/scorer.json`), "
            "sorted by size, so that they cannot be joined across questions",
            f"Values and words of answers: those of {FEWEST_PEOPLE} people or more. Values may be "
            "names that people mention.",
            f"Texts of {texts} are as they were written. They were not searched for personal data.",
            "The vector of an exemplary answer is a mean over answers, from which their content "
            "can be guessed. Do not publish it where the answers must stay secret.",
        ],
    )


def _iterate_remaining_sections(content: ScorerContent) -> Iterator[str]:
    """Yield the sections on preprocessing, uses, distribution and maintenance."""
    origin, embedder = content.origin, content.embedder
    settings = ", ".join(
        f"{key} {embedder[key]}" for key in ("model", "revision", "precision", "dimension")
    )
    html = {
        "kept": ["HTML in answers: read as typed"],
        "removed": [f"HTML in answers: removed from {origin.n_html:,} answers"],
    }
    yield from _iterate_section(
        "Preprocessing",
        [
            f"Embedder: {settings}",
            *html.get(origin.html, []),
            f"Run: {_join_lines(origin.run) or 'graded from files by `evaluate aqer`'}",
            f"Signature: `{origin.signature}`",
            f"Input: SHA-256 {origin.input_hash}",
        ],
    )
    yield from _iterate_section(
        "Uses",
        [
            "Intended: comparing language models with these people, on these questions.",
            "Not intended: training on the questions that models are scored by, and decisions "
            "about the people who answered.",
        ],
    )
    yield from _iterate_section("Known limits", CONSENSUS_LIMITS)
    yield from _iterate_section(
        "Distribution",
        [
            f"Licence of the data: {_join_lines(origin.licence) or UNKNOWN}",
            "Licence of the code (crowd_scorer and the files at the top): Apache-2.0",
        ],
    )
    yield from _iterate_section(
        "Maintenance",
        [
            f"Contact and updates: {UNKNOWN}",
            "Each export is of one run, which its signature identifies. If people withdraw "
            "answers, grade again and replace this folder by the export of the new run.",
        ],
    )


def _iterate_section(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield a section: its heading, and a list item for each line."""
    yield from (f"## {title}", "", *(f"- {line}" for line in lines), "")


def _join_lines(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())
