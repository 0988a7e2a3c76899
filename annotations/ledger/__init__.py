"""Decisions about submissions and payments to workers, stored as rows that never change.

- `decisions` stores who approved or rejected a submission, when and why; the newest row counts.
- `decision_signal` tells receivers which decisions were stored.
- `files` imports decisions from a file: all rows or none.
- `appeals` stores appeals of rejected workers and the answers to them.
- `decision_log` lists all decisions of a version as a table.
- `bonuses` plans, confirms and claims payments; each is sent at most once.
- `parts` does the same for partial payments.
- `confirmation` compares the total that a person saw with the total that would be paid.
- `tallies` sums payments by round and by list.
- `panel_lists` writes the lists for a panel; `payment_lists` formats their lines.
- `panel_payments` transmits payments and decisions through the panel's REST API.
- `settlement` imports what the panel reported about payments.
"""
