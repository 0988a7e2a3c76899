"""Find the method that agrees best with expert-graded answers of the user's own domain.

`crowds` makes crowds of the answers, of the workers that the file names or of simulated ones.
`trust` scores them with all methods and chooses the one to trust; `summing` builds the stored
summary. `kind` is the run type that does so in the background (`running`). It is here and not among
the other run types because it needs the methods of the evidence, which lie above these.
"""
