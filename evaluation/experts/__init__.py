"""Expert check: answers graded by experts, compared with the grades of the crowd."""
