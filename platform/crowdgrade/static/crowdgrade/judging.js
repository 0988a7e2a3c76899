// The key of a choice presses its button; a form that is on its way is not sent twice.
"use strict";
{
  const form = document.querySelector("[data-judging]");
  let sent = false;
  form?.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    for (const button of form?.querySelectorAll("button[data-key]") ?? []) {
      if (button.dataset.key === event.key.toLowerCase()) button.click();
    }
  });
}
