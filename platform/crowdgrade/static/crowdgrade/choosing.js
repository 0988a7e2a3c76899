// The key that a choice names in data-key chooses it, Enter sends; not while somebody types. Who
// finds an answer needs no reason, so the reasons are hidden then. A form is sent once.
"use strict";
{
  const form = document.querySelector("[data-choosing]");
  const reasons = form?.querySelector("[name=category]")?.closest("fieldset");
  const show = () => {
    const chosen = form.querySelector("[name=verdict]:checked");
    if (reasons) reasons.hidden = chosen?.value === "yes";
  };
  let sent = false;
  form?.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  form?.addEventListener("change", show);
  if (form) show();
  window.addEventListener("pageshow", () => { sent = false; if (form) show(); });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("textarea, select, input:not([type=radio]), [contenteditable]");
    if (!form || typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && !event.target.closest("a, button")) {
      event.preventDefault();
      form.requestSubmit();
      return;
    }
    const box = form.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!box || box.closest("[hidden]")) return;
    box.checked = true;
    box.focus();
    box.dispatchEvent(new Event("change", { bubbles: true }));
  });
}
