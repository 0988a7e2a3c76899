"""Find the method that agrees best with expert-graded answers of the user's own domain.

`crowds` builds crowds from the answers, with the workers named in the file or simulated ones.
`trust` scores them with all methods, chooses the method to trust, and builds the stored summary.
`kind` declares the run type, and `run` executes it in the background. The run type is here because
it needs the methods of the evidence, which the other run types may not import.
"""
