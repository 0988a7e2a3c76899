"""Draw charts on the server, as SVG.

Why no chart library: a picture drawn here is there without JavaScript and in print, obeys a
Content-Security-Policy that allows neither inline scripts nor eval, weighs a few kilobytes instead
of a megabyte, escapes texts in one place (`svg`), and its numbers are tested like any others. What
a script adds on the page (tooltips by pointer and finger, PNG) is small and optional.

Every picture is drawn twice, for wide and for narrow screens, so that letters keep their size;
the page shows the one that fits. Each has a table beside it on its page.
"""
