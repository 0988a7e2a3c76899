// Says that a file is being read, and keeps a second click from sending it twice.
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-upload]")) {
    // The theme would write the file's name into the nearest text field, which is none of its.
    form.addEventListener("change", (event) => {
      if (event.target.type === "file") event.stopPropagation();
    }, { capture: true });
    const busy = form.querySelector("[data-upload-busy]");
    const button = form.querySelector("button");
    form.addEventListener("submit", () => {
      busy.hidden = false;
      setTimeout(() => { button.disabled = true; });
    });
    // The back button brings the page back as it was left.
    window.addEventListener("pageshow", () => { busy.hidden = true; button.disabled = false; });
  }
});
