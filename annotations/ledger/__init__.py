"""What is decided of people's work and paid for it: rows that are added and never changed.

`deciding` keeps who approved or rejected a submission, when and why, and the newest row counts;
`files` takes decisions in from a file, whole or not at all, `appealing` what a rejected worker
writes back, and `log` is all of it as a table. `bonuses` plans, confirms and claims payments, each
sent at most once, `parts` those of a part of the pay; `confirming` asks for the sum that was shown,
and `tallies` counts what stands where. To a panel goes what `exporting` puts into lists
(`handing_over` has their lines), or what `sending` brings there; `settling` takes in what came of
it.
"""
