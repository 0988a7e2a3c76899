// Counts how an answer comes about: how much was typed, deleted and pasted, how often and how long
// the page was left, how long somebody was active. Never which keys, and nothing of any text: what
// leaves the page is a random name and whole numbers. Loaded only where it is told and wanted.
(() => {
  "use strict";
  const ACTIVE = 30000; // milliseconds after a key, a touch, a move or a scroll
  const PAGES = 3;
  const PASTED = new Set(["insertFromPaste", "insertFromPasteAsQuotation", "insertFromDrop", "insertFromYank"]);
  const UNDONE = new Set(["historyUndo", "historyRedo"]);
  const now = () => performance.now();

  const newName = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  };

  // What is between the common beginning and the common end of two texts: what went and what came.
  const difference = (before, after) => {
    const most = Math.min(before.length, after.length);
    let start = 0, end = 0;
    while (start < most && before[start] === after[start]) start += 1;
    while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
    return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  };
  const length = (text) => [...text].length;

  // What was last cut, copied or dragged within this page: who puts it elsewhere moves their own
  // words, which is no paste. It is compared here and goes nowhere.
  let own = "";
  const counters = [];
  let current = null, last = null, away = null, left = null, gone = false;

  const rest = () => (last === null ? 0 : Math.min(now() - last, ACTIVE));
  const active = () => {
    if (away !== null) return;
    if (current) current.active += rest();
    last = now();
  };
  const leave = () => {
    if (gone || away !== null) return;
    active();
    last = null;
    away = now();
    left = current;
    if (left) left.blurs += 1;
  };
  const comeBack = () => {
    if (away === null || document.visibilityState === "hidden") return;
    if (left) left.away += now() - away;
    away = null;
    last = now();
  };

  class Counter {
    constructor(inputs) {
      this.name = newName();
      this.earlier = {};
      this.pastes = this.pasted = this.keys = this.typed = this.deleted = this.blurs = 0;
      this.away = this.active = 0;
      this.before = "";
      this.composed = null;
      this.isPasting = false;
      this.area = inputs[0].tagName === "TEXTAREA" ? inputs[0] : null;
      if (this.area) this.watch(this.area);
      for (const input of inputs) {
        input.addEventListener("focus", () => { active(); current = this; });
      }
      counters.push(this);
      current = current || this;
    }

    watch(area) {
      this.before = area.value;
      const keep = () => { own = area.value.slice(area.selectionStart, area.selectionEnd); };
      area.addEventListener("cut", keep);
      area.addEventListener("copy", keep);
      area.addEventListener("paste", () => { this.isPasting = true; setTimeout(() => { this.isPasting = false; }); });
      area.addEventListener("compositionstart", () => { this.composed = area.value; });
      area.addEventListener("compositionend", () => {
        const [went, came] = this.composing();
        this.typed += length(came);
        this.deleted += length(went);
        this.composed = null;
        this.before = area.value;
      });
      area.addEventListener("beforeinput", () => { if (this.composed === null) this.before = area.value; });
      area.addEventListener("input", (event) => this.changed(event.inputType || (this.isPasting ? "insertFromPaste" : "")));
    }

    // A word that is being put together counts by what it is in the end.
    composing() {
      return this.composed === null ? ["", ""] : difference(this.composed, this.area.value);
    }

    changed(kind) {
      if (this.composed !== null) {
        this.keys += 1;
        return;
      }
      const [went, came] = difference(this.before, this.area.value);
      this.before = this.area.value;
      if (!kind || UNDONE.has(kind)) return; // a program of the browser, or what was counted before
      if (kind === "deleteByDrag") {
        own = went;
      } else if (PASTED.has(kind)) {
        this.deleted += length(went);
        if (came && came === own) return;
        this.pastes += 1;
        this.pasted += length(came);
      } else {
        this.keys += 1;
        this.typed += length(came);
        this.deleted += length(went);
      }
    }

    // Earlier counts of a text that could not be sent then.
    adopt(pages) {
      if (!pages || typeof pages !== "object") return;
      for (const name of Object.keys(pages).slice(0, PAGES)) this.earlier[name] = pages[name];
    }

    get pages() {
      const [went, came] = this.composing();
      const isHere = away === null && current === this;
      const isAway = away !== null && left === this;
      return { ...this.earlier, [this.name]: {
        paste_count: this.pastes,
        pasted_characters: this.pasted,
        keystrokes: this.keys,
        typed_characters: this.typed + length(came),
        deleted_characters: this.deleted + length(went),
        blur_count: this.blurs,
        away_seconds: Math.floor((this.away + (isAway ? now() - away : 0)) / 1000),
        active_seconds: Math.floor((this.active + (isHere ? rest() : 0)) / 1000),
      } };
    }
  }

  const here = () => { comeBack(); active(); };
  for (const kind of ["input", "keydown", "pointerdown"]) addEventListener(kind, here, { capture: true, passive: true });
  for (const kind of ["pointermove", "scroll"]) addEventListener(kind, active, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
    else if (document.hasFocus()) comeBack();
  });
  addEventListener("blur", (event) => { if (event.target === window) leave(); });
  addEventListener("focus", (event) => { if (event.target === window) comeBack(); });
  // Going on to the next page, or closing this one, is no leaving.
  addEventListener("pagehide", () => { gone = true; });

  window.answerSignals = (inputs) => new Counter(inputs);
})();
