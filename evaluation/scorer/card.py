"""Dataset card of an exported scorer: front matter, datasheet sections, and how it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from evaluation.grading.results.messages import CONSENSUS_LIMITS
from evaluation.scorer.messages import LEFT_OUT, NO_FACTS
from evaluation.scorer.run import ScorerContent
from evaluation.scorer.runtime.facts import FEWEST_PEOPLE

UNKNOWN = "not stated"
# Identifiers of licences that Hugging Face knows, of those used for such data.
LICENCES = (
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0"),
    *("cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "cc-by-3.0", "cc-by-sa-3.0"),
    *("odc-by", "odbl", "pddl", "cdla-permissive-2.0", "bsd-3-clause"),
)
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


def build_card(content: ScorerContent, formats: Sequence[str]) -> str:
    """Return the dataset card (README.md) of an export."""
    return "\n".join([*_iterate_front_matter(content, formats), *_iterate_body(content, formats)])


def _iterate_front_matter(content: ScorerContent, formats: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the front matter that Hugging Face reads."""
    origin = content.origin
    licence = "-".join(origin.licence.lower().split())
    yield "---"
    if licence in LICENCES:
        yield f"license: {licence}"
    elif origin.licence.strip():
        yield from ("license: other", f"license_name: {json.dumps(_join(origin.licence))}")
    else:
        yield "license: unknown"
    languages = dict.fromkeys(tag.partition("-")[0].lower() for tag in origin.languages)
    if languages:
        yield from ("language:", *(f"- {json.dumps(tag)}" for tag in languages))
    yield f"pretty_name: {json.dumps(_join(origin.title), ensure_ascii=False)}"
    size = next((name for most, name in SIZES if len(content.questions) < most), "100K<n<1M")
    yield from ("size_categories:", f"- {size}", "task_categories:", "- question-answering")
    yield from ("tags:", "- crowdgrade", "- human-consensus")
    if "hf" in formats:
        yield from ("configs:", "- config_name: default", "  data_files:", "  - split: test")
        yield "    path: data/test.parquet"
    yield from ("---", "")


def _iterate_body(content: ScorerContent, formats: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the card after its front matter."""
    yield from (f"# {_join(content.origin.title)}: what people answer", "")
    for text in (content.origin.description, content.origin.notice):
        if text.strip():
            yield from (_join(text), "")
    yield from _iterate_use(content, formats)
    yield from _iterate_datasheet(content)


def _iterate_use(content: ScorerContent, formats: Sequence[str]) -> Iterator[str]:
    """Yield the lines on how the folder is used in each tool."""
    name = content.options.name
    yield from ("## Use", "", "Install the packages: `pip install -r requirements.txt`.", "")
    if "inspect" in formats:
        yield "- Inspect: `inspect eval task.py --model MODEL`"
    if "lm-eval" in formats:
        yield f"- lm-evaluation-harness: `lm_eval --include_path . --tasks {name} --model MODEL`"
    if "hf" in formats:
        yield '- Hugging Face datasets: `datasets.load_dataset(".")`'
    if "promptfoo" in formats:
        yield "- promptfoo: name a provider in promptfooconfig.yaml, then `promptfoo eval`"
        yield "- pytest: `from assertion import assert_like_people`"
    yield from ("", "| score | meaning |", "|---|---|")
    yield "| similarity | cosine of the answer to the exemplary answer, at most 1 |"
    yield "| percentile | of the answer among the people who answered the question |"
    yield "| contradicted | values that contradict a value on which people agree |"
    yield (
        "| model_percentile | of the mean similarity among people; empty unless all questions "
        "were answered |"
    )
    yield ""


def _iterate_datasheet(content: ScorerContent) -> Iterator[str]:
    """Yield the sections of the datasheet, after Gebru et al., Datasheets for Datasets."""
    origin, options, embedder = content.origin, content.options, content.embedder
    left_out = [f"{n:,} ({LEFT_OUT[code]})" for code, n in content.left_out.items()]
    n_facts = sum(question.facts is not None for question in content.questions)
    facts = NO_FACTS[content.facts_reason] if content.facts_reason else f"on {n_facts:,} questions"
    yield from _iterate_section(
        "Motivation",
        [
            "The folder compares answers of language models with what people answered to the same "
            "questions. The exemplary answer of a question is the weighted mean of people's "
            "answers (AQER).",
        ],
    )
    yield from _iterate_section(
        "Composition",
        [
            f"Questions: {len(content.questions):,}"
            + (f"; left out: {', '.join(left_out)}" if left_out else ""),
            f"People: {origin.n_workers:,}, with {origin.n_answers:,} answers",
            f"Languages: {', '.join(origin.languages) or UNKNOWN}",
            "Of each question: its text, the vector of the exemplary answer, the scores of the "
            "ranked people without their ids, ascending",
            f"Facts: {facts}. Values and words of fewer than {FEWEST_PEOPLE} people are left out.",
            "People's answers: the answer nearest to the exemplary one of each question"
            if options.with_answers
            else "People's answers: none",
            "Ids of people: none",
        ],
    )
    consents = (
        "not recorded here: the answers were imported"
        if origin.n_consents is None
        else f"{origin.n_consents:,} people agreed to the consent text"
    )
    first, last = origin.collected
    yield from _iterate_section(
        "Collection process",
        [
            f"Collected: {f'{first} to {last}' if first else UNKNOWN}",
            f"Consent: {consents}",
            *([f"Consent text: “{_join(origin.consent_text)}”"] if origin.consent_text else []),
            f"Basis for publishing answers: {_join(options.consent_basis)}"
            if options.with_answers
            else "Basis for publishing answers: not needed, no answer is included",
            *(
                [
                    f"Withdrawn since the run: {origin.n_withdrawn:,} answers. They still count in "
                    "the exemplary answers; grade again to leave them out."
                ]
                if origin.n_withdrawn
                else []
            ),
        ],
    )
    settings = ", ".join(
        f"{key} {embedder[key]}" for key in ("model", "revision", "precision", "dimension")
    )
    yield from _iterate_section(
        "Preprocessing",
        [
            f"Embedder: {settings}",
            f"Run: {_join(origin.run) or UNKNOWN}",
            f"Signature: `{origin.signature}`",
            f"Input: SHA-256 {origin.input_hash}",
        ],
    )
    yield from _iterate_section("Uses", CONSENSUS_LIMITS)
    yield from _iterate_section(
        "Distribution",
        [
            f"Licence of the data: {_join(origin.licence) or UNKNOWN}",
            "Licence of the code (crowd_scorer and the files at the top): Apache-2.0",
        ],
    )
    yield from _iterate_section(
        "Maintenance",
        ["Export the next official run in place of this folder; the signature names the run."],
    )


def _iterate_section(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield a heading and a list item for each line."""
    yield from (f"## {title}", "", *(f"- {line}" for line in lines), "")


def _join(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())
