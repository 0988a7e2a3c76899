// The button that prints the summary; without this file the browser's own menu does.
"use strict";

(() => {
  const button = document.getElementById("print");
  button.hidden = false;
  button.addEventListener("click", () => window.print());
})();
