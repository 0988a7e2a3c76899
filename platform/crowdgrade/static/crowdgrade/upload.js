// Says that a file is being read, and keeps a second click from sending it twice.
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-upload]")) {
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
