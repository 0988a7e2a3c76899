// Copies a link that is shown. Where the browser keeps the clipboard to itself (no permission, or a
// site without https), the text is selected, so that the keys for copying are all that is missing.
document.addEventListener("DOMContentLoaded", () => {
  const select = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      return true;
    } catch {
      // Selected in any case: the old way copies what is, and people see what is meant.
      select(text);
      try {
        return document.execCommand("copy");
      } catch {
        return false;
      }
    }
  };

  const keys = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘C" : "Ctrl+C";
  for (const box of document.querySelectorAll("[data-copy]")) {
    const said = box.querySelector("[data-copy-said]");
    let forget = null;
    box.querySelector("[data-copy-button]").addEventListener("click", async () => {
      clearTimeout(forget);
      // Emptied first, so that the same words are read out a second time.
      said.textContent = "";
      const done = await copied(box.querySelector("[data-copy-text]"));
      await new Promise((then) => setTimeout(then, 50));
      said.textContent = done ? "Copied" : `Selected: press ${keys} to copy`;
      if (done) forget = setTimeout(() => { said.textContent = ""; }, 5000);
    });
  }
});
