"""How sure a number is: intervals, draws, tests, comparisons."""
