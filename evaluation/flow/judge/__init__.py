"""A language model as judge of answers, told on plain records: prompts, replies, what it is worth.

`prompts` is what the judge is told, `replies` the rule by which its words become numbers, `judging`
asks, `findings` measures the judge against itself, experts and AQER.
"""
