"""From answers to grades, as steps; the only place where rows become arrays and come back."""
