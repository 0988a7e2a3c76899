"""What panels are told and tell: lists of approved and rejected work, where submissions stand.

`people` says how a panel knows those who answered, `lists` makes its files out of what somebody
decided, `statuses` takes in what it exports, `groups` keeps whom it asks again. `client` is what a
panel can be asked by its own interface, `prolific` that of Prolific. Words of panels stand in
`exchange`.
"""
