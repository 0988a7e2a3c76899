// The key of a choice, or of undoing the last one, presses its button; where a choice has two keys, the first
// one waits for the second. A form that is on its way is not sent twice.
"use strict";
{
  let sent = false;
  let begun = "";
  const said = document.querySelector("[data-begun]");
  const begin = (keys) => {
    begun = keys;
    if (said) said.textContent = keys && said.dataset.begun;
  };
  document.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return begin("");
    if (event.key.length > 1) return;
    const keys = begun + event.key.toLowerCase();
    const buttons = [...document.querySelectorAll("button[data-key]")];
    const pressed = buttons.find((button) => button.dataset.key === keys);
    const longer = buttons.some((button) => button.dataset.key.startsWith(keys));
    begin(!pressed && longer ? keys : "");
    pressed?.click();
  });
}
