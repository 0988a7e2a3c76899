"""Ask language models on plain records: takes items, and puts replies into a store.

`plan` builds messages from prompts, and turns items into requests with a key and a seed each.
`asker` asks what the store does not know yet, at a limited pace and within the budget (`summary`).
Nothing here knows files, Django or a database; a judge and the other studies plan their own items.
"""
