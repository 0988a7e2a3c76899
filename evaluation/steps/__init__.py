"""From answers to grades, as steps; the only place where rows become arrays and come back.

`embed` turns texts into vectors, `grade` turns vectors into grades, exemplary answers and scores.
"""
