"""How many workers a requester's own crowd needed: options, the trial itself, what it concludes."""
