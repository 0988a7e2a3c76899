// Keys of the queue press its buttons and follow its links; a form on its way is not sent twice.
"use strict";
{
  const exclude = document.querySelector(".triage-exclude");
  const openExclude = () => {
    exclude.open = true;
    (exclude.querySelector("input[type=radio]:checked") ?? exclude.querySelector("input[type=radio]"))?.focus();
  };
  let sent = false;
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  if (exclude?.open && !exclude.querySelector(".errorlist")) openExclude();
  const arrows = { ArrowRight: "j", ArrowLeft: "k" };
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && exclude?.open) {
      exclude.open = false;
      exclude.querySelector("summary").focus();
      return;
    }
    const field = event.target.closest?.("input, textarea, select, [contenteditable]");
    // A radio button or a box takes no letters; arrows choose among radio buttons.
    const choosing = field?.matches("input[type=radio], input[type=checkbox]");
    if (field && !(choosing && event.key.length === 1)) return;
    const key = arrows[event.key] ?? event.key.toLowerCase();
    if (exclude?.open && /^[1-9]$/.test(key)) {
      const choice = exclude.querySelectorAll("input[type=radio]")[Number(key) - 1];
      choice?.click();
      choice?.focus();
      return;
    }
    for (const one of document.querySelectorAll("[data-key]")) {
      if (one.dataset.key !== key) continue;
      event.preventDefault();
      if (key === "x") openExclude();
      else one.click();
      return;
    }
  });
}
