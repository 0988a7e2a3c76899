// The key of a choice, or of undoing the last one, presses its button; a form that is on its way is not sent twice.
"use strict";
{
  let sent = false;
  document.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    for (const button of document.querySelectorAll("button[data-key]")) {
      if (button.dataset.key === event.key.toLowerCase()) button.click();
    }
  });
}
