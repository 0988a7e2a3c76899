// Who turned single keys off in the account: no letter, digit or sign by itself reaches what would
// press a button by it. Typing goes on, as do arrows, Enter, Escape and keys with Ctrl or Alt.
"use strict";
if (document.querySelector("[data-keys-off]")) {
  window.addEventListener("keydown", (event) => {
    const single = event.key.length === 1 && event.key !== " ";
    if (single && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopImmediatePropagation();
  }, true);
  for (const one of document.querySelectorAll("main kbd")) one.remove();
  for (const one of document.querySelectorAll("[aria-keyshortcuts]")) {
    one.removeAttribute("aria-keyshortcuts");
  }
}
