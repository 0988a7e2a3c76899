"""Exchange with panels (such as Prolific): lists of approved and rejected workers, states.

- `people` describes the workers as a panel knows them.
- `lists` writes the decisions as files for a panel.
- `statuses` imports the export of a panel.
- `groups` creates groups of workers to invite again.
- `client` declares the requests to a panel's REST API; `prolific` implements them.

The panels' own terms are in `exchange`.
"""
