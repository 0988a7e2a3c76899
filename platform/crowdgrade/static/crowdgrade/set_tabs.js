"use strict";
// Says which tab of a question set is shown, and opens a folded part that an address leads to.
// Which part is seen is decided by the style sheet.
(() => {
  const links = [...document.querySelectorAll(".set-tabs a")];
  const mark = () => {
    const place = document.getElementById(location.hash.slice(1));
    const panel = place && place.closest(".set-panel");
    const here = "#" + (panel ? panel.id : "overview");
    for (const link of links) {
      if (link.getAttribute("href") === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    for (let one = place; one; one = one.parentElement) if (one.matches("details")) one.open = true;
  };
  addEventListener("hashchange", mark);
  mark();
})();
