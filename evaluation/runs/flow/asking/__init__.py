"""Ask language models on plain records: takes items, and puts replies into a store.

`prompts` makes messages, `plan` turns items into requests with a key and a seed each, `asker`
asks what the store does not know yet, at the pace of `limits` and within `budget`. Nothing here
knows files, Django or a database; a judge and the other studies plan their own items.
"""
