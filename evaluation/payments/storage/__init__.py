"""Evidence, rules and suggestions for payment decisions, read from the database.

`scope` finds the version whose workers are paid. `evidence` counts what supports each reason for a
rejection. `rules` proposes bonuses. `fairness` compares groups of workers. `inviting` selects
workers to invite again.

Nothing here decides, confirms, pays or messages anyone. `annotations.ledger` stores decisions;
`rules` adds planned bonuses there, which a person has to confirm.
"""
