"""Decisions about submissions and payments to workers, stored as rows that never change.

- `deciding` stores who approved or rejected a submission, when and why; the newest row counts.
- `decision_signal` tells receivers which decisions were stored.
- `files` imports decisions from a file: all rows or none.
- `appealing` stores appeals of rejected workers and the answers to them.
- `log` lists all decisions of a version as a table.
- `bonuses` plans, confirms and claims payments; each is sent at most once.
- `parts` does the same for partial payments.
- `confirming` compares the total that a person saw with the total that would be paid.
- `tallies` sums payments by round and by list.
- `exporting` writes the lists for a panel; `handing_over` formats their lines.
- `sending` transmits payments and decisions through the panel's REST API.
- `settling` imports what the panel reported about payments.
"""
