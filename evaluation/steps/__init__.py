"""From rows to the columns of a grading and from its results to rows; the ORM meets arrays here."""
