"""Evidence, rules and suggestions for payment decisions, read from the database.

`evidence` finds the version whose workers are paid, and counts what supports each reason for a
rejection. `rules` proposes bonuses and suggests actions. `fairness` compares groups of workers.
`invitations` selects workers to invite again.

Nothing here decides, confirms, pays or messages anyone. `annotations.ledger` stores decisions;
`rules` adds planned bonuses there, which a person has to confirm.
"""
