// The editor: saves while one types, keeps a copy on this device until the server has it, writes
// marks of formatting, and moves items by dragging. Without it every form works as it stands.
"use strict";

const WAIT = 1200; // milliseconds without a key before a form is sent

class Form {
  constructor(form) {
    this.form = form;
    this.state = form.querySelector("[data-state]");
    this.key = `editor:${location.pathname}${location.search}`;
    this.autosaves = form.hasAttribute("data-autosave");
    this.saved = this.typed();
    this.sending = null;
    this.timer = 0;
    form.addEventListener("input", (event) => this.changed(event));
    form.addEventListener("submit", (event) => this.submit(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.typed() !== this.saved) event.preventDefault();
    });
    window.addEventListener("online", () => this.soon());
    this.restore();
  }

  fields() {
    const quiet = ["csrfmiddlewaretoken", "seen", "new_id", "picture"];
    return [...new FormData(this.form)].filter(([name]) => !quiet.includes(name));
  }

  typed() { return JSON.stringify(this.fields()); }

  say(text, kind = "") {
    this.state.textContent = text;
    this.state.className = `editor-state ${kind}`;
  }

  changed(event) {
    if (this.typed() === this.saved && !event?.target.files?.length) return;
    this.keep();
    this.say("Not saved yet", "editor-unsaved");
    if (event?.target.name === "picture") this.save();
    else this.soon();
  }

  soon() {
    clearTimeout(this.timer);
    if (this.autosaves && this.typed() !== this.saved) this.timer = setTimeout(() => this.save(), WAIT);
  }

  keep() {
    const kept = { fields: this.fields(), seen: this.form.elements.seen.value, when: Date.now() };
    try { localStorage.setItem(this.key, JSON.stringify(kept)); } catch { /* a full or closed store */ }
  }

  forget() { try { localStorage.removeItem(this.key); } catch { /* the same */ } }

  restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(this.key)); } catch { return; }
    if (!kept || JSON.stringify(kept.fields) === this.saved || document.querySelector("[role=alert]")) return;
    const fill = () => {
      for (const [name, value] of kept.fields) {
        const field = this.form.elements[name];
        if (field && field.type !== "checkbox") field.value = value;
      }
      this.say("What you typed before is back, and not saved yet", "editor-unsaved");
      this.soon();
    };
    if (kept.seen === this.form.elements.seen.value) return fill();
    const button = document.createElement("button");
    button.type = "button";
    button.className = "cg-button";
    button.textContent = `Bring back what you typed on ${new Date(kept.when).toLocaleString()}`;
    button.addEventListener("click", () => { fill(); button.remove(); });
    this.state.after(button);
  }

  async submit(event) {
    const button = event.submitter;
    if (button?.hasAttribute("data-plain") || !this.autosaves) { this.saved = this.typed(); return; }
    event.preventDefault();
    const body = await this.save(button?.value);
    if (body?.saved) location.assign(body.there);
    else if (body?.why) { this.saved = this.typed(); this.form.submit(); }
  }

  // One at a time: the mark of what is stored comes back with each.
  async save(what = "") {
    clearTimeout(this.timer);
    await this.sending;
    this.sending = this.send(what, true);
    return this.sending;
  }

  async send(what, again) {
    const typed = this.typed();
    const data = new FormData(this.form);
    data.set("do", what);
    this.say("Saving…");
    let response, body;
    try {
      response = await fetch(this.form.action || location.href, {
        method: "POST", body: data, headers: { Accept: "application/json" },
      });
      body = response.redirected ? null : await response.json();
    } catch { body = null; }
    if (!body && again && response && !response.redirected && response.status === 403) {
      // Logged in anew in another tab: that page's token is the one that counts.
      if (await this.renew()) return this.send(what, false);
    }
    if (!body) {
      this.say(response
        ? "Not saved: you are logged out. Log in in another tab, then save again; your text stays here."
        : "Not saved: the server cannot be reached. Your text stays on this device.", "editor-unsaved");
      return null;
    }
    if (!body.saved) {
      this.say(`Not saved: ${body.said}`, "editor-unsaved");
      this.autosaves = this.autosaves && !body.why;
      return body;
    }
    this.form.elements.seen.value = body.seen;
    this.saved = typed;
    if (body.image) this.picture(body.image);
    this.forget();
    if (body.address && body.address !== location.pathname) {
      history.replaceState(null, "", body.address);
      this.form.action = body.address;
      this.key = `editor:${location.pathname}`;
    }
    if (this.typed() === typed) this.say(`Saved at ${new Date().toLocaleTimeString()}`, "editor-saved");
    else this.changed();
    return body;
  }

  picture(address) {
    const figure = this.form.querySelector("[data-picture]");
    if (!figure) return;
    figure.hidden = false;
    figure.querySelector("img").src = address;
    this.form.elements.picture.value = "";
  }

  async renew() {
    try {
      const response = await fetch(location.href);
      if (response.redirected) return false;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const token = page.querySelector("[name=csrfmiddlewaretoken]")?.value;
      if (token) this.form.elements.csrfmiddlewaretoken.value = token;
      return Boolean(token);
    } catch { return false; }
  }
}

// Buttons that write marks around what is selected.
const MARKS = [
  ["B", "Strong", "**", "**"], ["I", "Emphasis", "*", "*"], ["H", "Heading", "\n## ", "\n"],
  ["•", "List", "\n- ", "\n"], ["“", "Quote", "\n> ", "\n"], ["↗", "Link", "[", "](https://)"],
];

function addMarks(area) {
  const bar = document.createElement("div");
  bar.className = "editor-marks";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Formatting");
  for (const [sign, name, before, after] of MARKS) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.title = name;
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => {
      const { selectionStart: from, selectionEnd: to, value } = area;
      area.setRangeText(before + value.slice(from, to) + after, from, to, "end");
      area.setSelectionRange(from + before.length, from + before.length + (to - from));
      area.focus();
      area.dispatchEvent(new Event("input", { bubbles: true }));
    });
    bar.append(button);
  }
  area.before(bar);
}

// Moving: by the arrows without leaving the page, and by dragging the handle.
class Outline {
  constructor(root) {
    this.root = root;
    this.seen = root.dataset.seen;
    this.state = document.querySelector("[data-state]");
    this.queue = Promise.resolve();
    root.addEventListener("submit", (event) => {
      if (!event.target.matches("[data-order]")) return;
      event.preventDefault();
      const item = event.target.closest("[data-item]");
      this.queue = this.queue.then(() => this.step(item, event.submitter));
    });
    for (const handle of root.querySelectorAll("[data-handle]")) {
      handle.classList.add("editor-live");
      handle.addEventListener("pointerdown", (event) => this.grab(event, handle.closest("[data-item]")));
    }
  }

  isPassage(item) { return item.parentElement.hasAttribute("data-passages"); }

  siblings(item) { return [...item.parentElement.children]; }

  // The lists a question may stand in, in the order of the page.
  lists() { return [...this.root.querySelectorAll("[data-questions]")]; }

  async step(item, button) {
    const up = button.value === "up";
    const beside = up ? item.previousElementSibling : item.nextElementSibling;
    let list = item.parentElement;
    if (!beside) {
      if (this.isPassage(item)) return this.atTheEdge(item, button);
      const lists = this.lists();
      list = lists[lists.indexOf(list) + (up ? -1 : 1)];
      if (!list) return this.atTheEdge(item, button);
    }
    if (!await this.send({ item: item.dataset.item, way: button.value })) return;
    if (beside) up ? beside.before(item) : beside.after(item);
    else up ? list.append(item) : list.prepend(item);
    button.focus();
    item.scrollIntoView({ block: "nearest" });
    this.tell(item);
  }

  // There may be more on another page: then the server knows, and this page comes anew.
  atTheEdge(item, button) {
    if (!this.root.hasAttribute("data-more")) {
      const end = button.value === "up" ? "the first" : "the last";
      this.state.textContent = `${item.dataset.name} is ${end} already.`;
      return;
    }
    const way = document.createElement("input");
    Object.assign(way, { type: "hidden", name: "way", value: button.value });
    button.form.append(way);
    button.form.submit();
  }

  tell(item) {
    const all = this.siblings(item);
    this.state.textContent = `${item.dataset.name} moved: ${all.indexOf(item) + 1} of ${all.length}.`;
  }

  async send(values) {
    const data = new FormData();
    data.set("csrfmiddlewaretoken", this.root.querySelector("[name=csrfmiddlewaretoken]").value);
    data.set("seen", this.seen);
    for (const [name, value] of Object.entries(values)) data.set(name, value);
    let body = null;
    try {
      const response = await fetch(this.root.dataset.address, {
        method: "POST", body: data, headers: { Accept: "application/json" },
      });
      body = response.redirected ? null : await response.json();
    } catch { body = null; }
    if (body?.seen) {
      this.seen = body.seen;
      for (const field of this.root.querySelectorAll("[name=seen]")) field.value = body.seen;
      return true;
    }
    this.refused(body?.said ?? "Nothing was moved: the server cannot be reached, or you are logged out.");
    return false;
  }

  refused(said) {
    document.querySelector("[data-refused]")?.remove();
    const box = document.createElement("div");
    box.className = "cg-box cg-warn";
    box.setAttribute("role", "alert");
    box.setAttribute("data-refused", "");
    box.textContent = `${said} `;
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Show the page as it is now";
    link.addEventListener("click", () => location.reload());
    box.append(link);
    this.root.before(box);
    box.scrollIntoView({ block: "nearest" });
  }

  grab(event, item) {
    if (event.button) return;
    event.preventDefault();
    const from = { list: item.parentElement, next: item.nextElementSibling };
    const place = (list, next) => list.insertBefore(item, next);
    const edge = 60;
    item.classList.add("editor-dragged");
    const move = (now) => {
      if (now.clientY < edge) window.scrollBy(0, -12);
      else if (now.clientY > window.innerHeight - edge) window.scrollBy(0, 12);
      const under = document.elementFromPoint(now.clientX, now.clientY);
      if (!under || item.contains(under)) return;
      if (this.isPassage(item)) {
        const other = under.closest("[data-passages] > [data-item]");
        if (other) this.beside(item, other, now.clientY);
        return;
      }
      const other = under.closest("[data-questions] > [data-item]");
      if (other) return void this.beside(item, other, now.clientY);
      const list = under.closest("[data-questions]")
        ?? under.closest("[data-passages] > [data-item]")?.querySelector("[data-questions]");
      if (list && list !== item.parentElement) place(list, null);
    };
    const stop = (keep) => {
      item.classList.remove("editor-dragged");
      for (const [name, what] of Object.entries(heard)) document.removeEventListener(name, what);
      const stays = item.parentElement === from.list && item.nextElementSibling === from.next;
      if (!keep) place(from.list, from.next);
      else if (!stays) this.queue = this.queue.then(() => this.drop(item, from, place));
    };
    const heard = {
      pointermove: move,
      pointerup: () => stop(true),
      pointercancel: () => stop(false),
      keydown: (key) => { if (key.key === "Escape") stop(false); },
    };
    for (const [name, what] of Object.entries(heard)) document.addEventListener(name, what);
  }

  beside(item, other, y) {
    const box = other.getBoundingClientRect();
    if (y < box.top + box.height / 2) other.before(item);
    else other.after(item);
  }

  async drop(item, from, place) {
    const before = item.nextElementSibling?.dataset.item ?? this.behind(item);
    const passage = item.parentElement.dataset.questions ?? "";
    if (await this.send({ item: item.dataset.item, before, passage })) this.tell(item);
    else place(from.list, from.next);
  }

  // What follows the last item of the page on the next one is not on the page.
  behind(item) { return item.parentElement.dataset.behind ?? ""; }
}

for (const form of document.querySelectorAll("[data-editor]")) new Form(form);
for (const area of document.querySelectorAll("[data-formatted]")) addMarks(area);
for (const root of document.querySelectorAll("[data-outline][data-movable]")) new Outline(root);
