"""Pages of writing problems without an answer: the requester's, the writers', the validators'."""
