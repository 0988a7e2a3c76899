// What a page has to tell first takes the focus. `autofocus` alone is a matter of luck here: the theme
// hides the page until its own script runs, and nothing that is hidden can take it.
"use strict";

document.querySelector("[autofocus][tabindex='-1']")?.focus();
