"""Which method to trust in a domain of one's own, by graded answers of it.

`crowds` makes crowds of them, of the workers that the file names or of dealt ones, and `trust`
tries all methods on these and says which one to trust; `summing` keeps what is told. `kind` is the
kind of run that does so in the background (`running`): it stands here and not among the other
kinds because it needs the methods of the evidence, which lie above these.
"""
