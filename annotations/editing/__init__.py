"""Editing of question sets: order, checks, translations, differences between versions.

    with draft_of(question_set) as draft:      # locks the set for other editors and imports
        order = Order.from_version(draft)
        order.move(question, -1)
        order.save(draft)
    findings(draft)                            # what is missing or odd before publishing
    add_language(draft, "ar")                  # a Sheet holds the translations
    compare_versions(older, newer)             # what changed between two versions

The pages of the editor, the REST API and the commands all use these.
"""

from annotations.editing.checks import Finding, list_blocking_findings, list_findings
from annotations.editing.consent import is_about_data_use, select_consent_template
from annotations.editing.deletion import Dependents, count_dependents, delete_item
from annotations.editing.differences import Change, Part, compare_versions
from annotations.editing.drafts import (
    PublishedError,
    StaleError,
    find_free_id,
    hash_fields,
    lock_draft,
)
from annotations.editing.images import attach_image, drop_image
from annotations.editing.order import Order
from annotations.editing.translation import (
    Progress,
    Sheet,
    add_language,
    load_rows,
    measure_progress,
    remove_language,
)

__all__ = [
    "Change",
    "Dependents",
    "Finding",
    "Order",
    "Part",
    "Progress",
    "PublishedError",
    "Sheet",
    "StaleError",
    "add_language",
    "attach_image",
    "compare_versions",
    "count_dependents",
    "delete_item",
    "drop_image",
    "find_free_id",
    "hash_fields",
    "is_about_data_use",
    "list_blocking_findings",
    "list_findings",
    "load_rows",
    "lock_draft",
    "measure_progress",
    "remove_language",
    "select_consent_template",
]
