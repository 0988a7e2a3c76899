"""Editing of question sets: order, checks, translations, differences between versions.

    with lock_draft(question_set) as draft:    # locks the set for other editors and imports
        order = ItemOrder.from_version(draft)
        order.move_by(question, -1)
        order.save(draft)
    list_findings(draft)                       # what is missing or odd before publishing
    add_language(draft, "ar")                  # a TranslationSheet holds the texts
    compare_versions(older, newer)             # what changed between two versions

The pages of the editor, the REST API and the commands all use these.
"""

from annotations.editing.checks import Finding, list_blocking_findings, list_findings
from annotations.editing.consent import has_data_use_notice, select_consent_template
from annotations.editing.deletion import DependentCount, count_dependents, delete_item
from annotations.editing.differences import ItemChange, TextPart, compare_versions
from annotations.editing.drafts import (
    PublishedError,
    StaleError,
    find_free_id,
    hash_fields,
    lock_draft,
)
from annotations.editing.images import attach_image, remove_image
from annotations.editing.order import ItemOrder
from annotations.editing.translation import (
    TranslationProgress,
    TranslationSheet,
    add_language,
    load_translatable_items,
    measure_translation_progress,
    remove_language,
)

__all__ = [
    "DependentCount",
    "Finding",
    "ItemChange",
    "ItemOrder",
    "PublishedError",
    "StaleError",
    "TextPart",
    "TranslationProgress",
    "TranslationSheet",
    "add_language",
    "attach_image",
    "compare_versions",
    "count_dependents",
    "delete_item",
    "find_free_id",
    "has_data_use_notice",
    "hash_fields",
    "list_blocking_findings",
    "list_findings",
    "load_translatable_items",
    "lock_draft",
    "measure_translation_progress",
    "remove_image",
    "remove_language",
    "select_consent_template",
]
