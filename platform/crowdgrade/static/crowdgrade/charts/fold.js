// A long page of results ends after four screens, at a button that shows the rest.
// Without this file everything is there. What is printed is always everything.
"use strict";

(() => {
  const SCREENS = 4;
  const ROOM = 110; // for the button and the names of what is below
  const block = document.querySelector("[data-fold]");
  const page = document.documentElement;
  const most = SCREENS * window.innerHeight;
  const key = `all ${window.location.pathname}`;
  if (!block || page.scrollHeight <= most) return;
  try {
    if (sessionStorage.getItem(key)) return; // it was asked for on this page before
  } catch {
    // storage may be forbidden; then it is asked for again
  }

  const bottom = (part) => part.getBoundingClientRect().bottom + window.scrollY;
  const top = (part) => part.getBoundingClientRect().top + window.scrollY;
  const limit = most - Math.max(0, page.scrollHeight - bottom(block)) - ROOM;
  const folded = [];
  // What somebody works with, such as the buttons of a decision, is never put away.
  const hide = (part) => {
    if (part.matches("[data-stays]") || part.querySelector("[data-stays]")) return;
    part.classList.add("folded");
    folded.push(part);
  };
  // A picture stays whole, and so does what scrolls by itself.
  const parts = "section, div:not(.results-numbers), table, tbody, ul, ol, dl, article";
  const stays = (part) => part.matches(parts) && part.children.length > 1 && top(part) + 90 < limit;
  const inner = (part) =>
    part.matches("div, table") && part.children.length === 1 ? part.firstElementChild : null;
  const fold = (parent) => {
    let over = false;
    for (const child of parent.children) {
      if (over) hide(child);
      else if (bottom(child) > limit) {
        over = true;
        let part = child;
        while (inner(part) && part.matches(parts)) part = inner(part);
        if (stays(part)) {
          fold(part);
          const left = [...part.children].filter((one) => !one.classList.contains("folded"));
          if (left.every((one) => one.matches("h2, h3, thead, caption"))) hide(child);
        } else hide(child);
      }
    }
  };
  fold(block);
  if (!folded.length) return;

  const heading = (part) => (part.matches("h2") ? part : part.querySelector("h2"));
  const names = folded.map((part) => heading(part)?.textContent.trim()).filter(Boolean);
  const more = document.createElement("p");
  more.className = "fold-more";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "cg-button";
  button.textContent = "Show all";
  more.append(button);
  if (names.length) {
    const below = document.createElement("span");
    below.className = "cg-muted cg-small";
    below.textContent = `Further down: ${[...new Set(names)].join(", ")}`;
    more.append(below);
  }
  block.after(more);

  const showAll = () => {
    for (const part of folded) part.classList.remove("folded");
    more.remove();
    try {
      sessionStorage.setItem(key, "yes");
    } catch {
      // as above
    }
  };
  button.addEventListener("click", () => {
    const first = folded[0];
    showAll();
    if (!first.hasAttribute("tabindex")) first.tabIndex = -1; // a table that scrolls has its own
    first.focus({ preventScroll: true });
  });
  // An address that names a part of the page shows it.
  const toNamed = () => {
    const named = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (named && folded.some((part) => part.contains(named))) {
      showAll();
      named.scrollIntoView();
    }
  };
  window.addEventListener("hashchange", toNamed);
  toNamed();
})();
