"""The words of the site: options are the labels of the grading form."""

from __future__ import annotations

from evaluation.words.catalogue import Catalogue
from evaluation.words.warnings import english_only

# As `AqerParameters` declares them; a test compares.
LABELS = {
    "anchors": "Use experts' grades",
    "camps": "Several right answers",
    "collapse_copies": "Collapse copies",
    "embedder": "How texts become vectors",
    "exclude_workers": "Exclude workers",
    "leave_one_out": "Leave one out",
    "max_iterations": "Most iterations",
    "suggest_anchors": "Answers to suggest",
    "weight_cap": "Most weight of a worker",
}


def option(name: str) -> str:
    """Return the label of an option."""
    return f"“{LABELS.get(name, name.replace('_', ' '))}”"


CATALOGUE = Catalogue(
    option,
    {
        "english_only": english_only(
            "a multilingual model (“Another embedder”, such as sentence-transformers:NAME) or "
            "groups of letters (TF-IDF)"
        )
    },
)
said, all_said = CATALOGUE.said, CATALOGUE.all_said
