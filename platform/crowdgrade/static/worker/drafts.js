// Saves what is typed, while it is typed. "Saved" is said only after the server said so. What could
// not be sent is kept in this browser until it is; of two texts both are kept, and shown.
(() => {
  "use strict";
  const form = document.querySelector("form[data-draft]");
  if (!form) return;
  const words = form.dataset;
  const WAIT = 1000, LONGEST_WAIT = 3000, TRY_AGAIN = 4000;

  const storage = (() => {
    try { localStorage.setItem("-", "-"); localStorage.removeItem("-"); return localStorage; }
    catch { return null; }
  })();
  const tab = (() => {
    try {
      const known = sessionStorage.getItem("tab");
      if (known) return known;
      const made = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2) + Date.now();
      sessionStorage.setItem("tab", made);
      return made;
    } catch { return String(Math.random()).slice(2); }
  })();

  const node = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const key = (id) => `draft ${words.draft} ${id}`;
  // What a screen reader is told is only what somebody has to know: not each "Saved".
  const said = node("p", "hint saving"), told = node("p", "saving");
  told.setAttribute("role", "status");
  form.querySelector(".actions").before(said, told);
  const say = (what) => { said.textContent = what; if (told.textContent !== words.recovered) told.textContent = ""; };
  const tell = (what) => { if (told.textContent !== what) { said.textContent = ""; told.textContent = what; } };

  const boxes = new Map();
  let goes = false;

  class Box {
    constructor(name) {
      this.name = name;
      this.id = name.slice("answer-".length);
      this.inputs = [...form.querySelectorAll(`[name="${CSS.escape(name)}"]`)];
      this.revision = form.querySelector(`[name="${CSS.escape(`revision-${this.id}`)}"]`);
      this.counter = window.answerSignals && "counts" in this.revision.dataset ? window.answerSignals(this.inputs) : null;
      this.stored = this.shown;
      this.timer = null;
      this.since = 0;
      this.flight = null;
      this.tried = new Set();
      for (const input of this.inputs) {
        input.addEventListener("input", () => this.changed());
        input.addEventListener("change", () => { if (input.type === "radio") this.send(); });
      }
    }

    get text() {
      const [first] = this.inputs;
      if (first.tagName === "TEXTAREA") return first.value;
      const chosen = this.inputs.find((one) => one.checked);
      return chosen ? chosen.value : "";
    }

    set text(value) {
      for (const one of this.inputs) {
        if (one.tagName === "TEXTAREA") one.value = value;
        else one.checked = one.value === value;
      }
    }

    // What the page came with: somebody may have typed before this script had come.
    get shown() {
      const [first] = this.inputs;
      if (first.tagName === "TEXTAREA") return first.defaultValue.replace(/\r\n?/g, "\n");
      const chosen = this.inputs.find((one) => one.defaultChecked);
      return chosen ? chosen.value : "";
    }

    get isOpen() { return this.text !== this.stored; }

    changed() {
      this.keepHere();
      say(words.saving);
      const now = Date.now();
      if (!this.since) this.since = now;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.send(), Math.max(0, Math.min(WAIT, this.since + LONGEST_WAIT - now)));
    }

    keepHere() {
      if (!storage) return;
      try { storage.setItem(key(this.id), JSON.stringify({ text: this.text, revision: this.revision.value, pages: this.counter?.pages })); }
      catch { /* The disk of the browser is full: the server has what was saved. */ }
    }

    forgetHere(text) {
      if (!storage) return;
      try {
        const kept = JSON.parse(storage.getItem(key(this.id)) || "null");
        if (kept && kept.text === text) storage.removeItem(key(this.id));
      } catch { storage.removeItem(key(this.id)); }
    }

    // Into the form, which brings the last counts with the answer.
    putSignals() {
      const name = `signals-${this.id}`;
      let field = form.elements.namedItem(name);
      if (!this.counter) { if (field) field.remove(); return; }
      if (!field) {
        field = node("input");
        field.type = "hidden";
        field.name = name;
        this.revision.after(field);
      }
      field.value = JSON.stringify(this.counter.pages);
    }

    // Sends the text as it now is; of two requests at once the server could not tell the order.
    send({ leaving = false } = {}) {
      clearTimeout(this.timer);
      if (this.flight && !leaving) return this.flight;
      if (!this.isOpen) { this.since = 0; return Promise.resolve(true); }
      this.flight = this.post(this.text, leaving).finally(() => { this.flight = null; });
      return this.flight;
    }

    async post(text, leaving) {
      this.since = 0;
      const body = new URLSearchParams({ question: this.id, text, revision: this.revision.value, tab });
      if (this.counter) body.set("signals", JSON.stringify(this.counter.pages));
      const keepalive = leaving && text.length < 7000; // browsers take 64 kB, encoded
      let answer = null;
      try {
        const response = await fetch(words.draft, { method: "POST", body, keepalive, credentials: "same-origin" });
        answer = { status: response.status, ...(await response.json()) };
      } catch { /* no network, or a page instead of an answer */ }
      if (goes) return true;
      if (answer && answer.counted === false) for (const box of boxes.values()) box.counter = null;
      return this.took(text, answer);
    }

    took(text, answer) {
      if (!answer || answer.status >= 500) {
        this.tried.add(text);
        tell(words.offline);
        this.timer = setTimeout(() => this.send(), TRY_AGAIN);
        return false;
      }
      if (answer.status === 409 && this.tried.has(answer.text)) {
        // Stored before, by this window: only the answer to that was lost.
        this.stored = answer.text;
        this.revision.value = answer.revision;
        this.tried.clear();
        this.changed();
        return true;
      }
      if (answer.saved) {
        this.stored = text;
        this.forgetHere(text);
        this.tried.clear();
        if (answer.status === 409) this.showOther(answer.text);
        else this.revision.value = answer.revision;
      } else if (answer.status === 409) {
        this.stored = text;
        this.showOther(answer.text);
      }
      if (answer.status === 413) tell(words.tooLong);
      else if (answer.status === 410) tell(words.ended);
      else if (this.isOpen) this.changed();
      else if (![...boxes.values()].some((box) => box.isOpen)) say(words.saved);
      return Boolean(answer.saved);
    }

    // The text of another window is the answer's own; this window's is kept beside it.
    showOther(other) {
      this.offer(other, words.otherWindow, () => {});
    }

    offer(other, why, done) {
      let box = this.offered;
      if (!box) {
        box = this.offered = node("div", "other");
        box.setAttribute("role", "status");
        this.inputs[this.inputs.length - 1].closest(".question").append(box);
      }
      if (box.dataset.text === other) return;
      box.dataset.text = other;
      const use = node("button", "", words.useIt);
      use.type = "button";
      const kept = node("span", "kept", other);
      kept.dir = "auto";
      box.replaceChildren(node("p", "", why), kept, use);
      use.addEventListener("click", () => {
        const mine = this.text;
        this.text = other;
        done();
        box.remove();
        this.offered = null;
        this.changed();
        if (mine) this.offer(mine, words.yours, () => {});
        this.inputs[0].focus();
      });
    }

    // What an earlier page in this browser could not send.
    recover() {
      if (!storage) return;
      let kept = null;
      try { kept = JSON.parse(storage.getItem(key(this.id)) || "null"); } catch { kept = null; }
      if (!kept || typeof kept.text !== "string" || kept.text === this.text) {
        storage.removeItem(key(this.id));
        return;
      }
      if (!this.text || (!this.isOpen && kept.revision === this.revision.value)) {
        this.text = kept.text;
        this.counter?.adopt(kept.pages);
        tell(words.recovered);
        this.send();
      } else if (kept.text) {
        this.offer(kept.text, words.fromHere, () => { this.counter?.adopt(kept.pages); storage.removeItem(key(this.id)); });
      }
    }
  }

  for (const input of form.querySelectorAll('[name^="answer-"]')) {
    if (!boxes.has(input.name)) boxes.set(input.name, new Box(input.name));
  }
  for (const box of boxes.values()) {
    box.recover();
    if (box.isOpen && !box.flight) box.changed();
  }

  const sendAll = (how) => { if (!goes) for (const box of boxes.values()) box.send(how); };
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") sendAll({ leaving: true }); });
  window.addEventListener("pagehide", () => sendAll({ leaving: true }));
  window.addEventListener("online", () => sendAll());
  // A page that comes back from the browser's memory shows old boxes: the server knows better.
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // Without a connection the browser would show a page of its own, and the text would be gone from
  // sight: so the form goes only when the server answers, and after what is still under way.
  let asks = false;
  form.addEventListener("submit", async (event) => {
    if (goes) return;
    event.preventDefault();
    if (asks) return;
    asks = true;
    const button = event.submitter;
    for (const box of boxes.values()) { clearTimeout(box.timer); box.keepHere(); }
    say(words.sending);
    await Promise.all([...boxes.values()].map((box) => box.flight));
    let isThere = false;
    try {
      const response = await fetch(words.draft, { credentials: "same-origin", cache: "no-store" });
      isThere = Boolean((await response.json()).here);
    } catch { /* no network */ }
    asks = false;
    if (!isThere) {
      tell(words.notSent);
      for (const box of boxes.values()) if (box.isOpen) box.timer = setTimeout(() => box.send(), TRY_AGAIN);
      return;
    }
    for (const box of boxes.values()) box.putSignals();
    goes = true;
    setTimeout(() => { goes = false; }, 5000);
    form.requestSubmit(button || undefined);
  });
})();
