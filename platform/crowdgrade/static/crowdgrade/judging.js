// Keys 0 to 5 press the button of that grade; a form that is on its way is not sent twice.
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
    if (!/^[0-5]$/.test(event.key)) return;
    form?.querySelector(`button[value="${event.key}"]`)?.click();
  });
}
