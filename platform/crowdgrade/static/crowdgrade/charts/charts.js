// What a script adds to the pictures: tooltips for pointer and finger, links, PNG files.
// Texts are only ever set as text. Without this file the pictures are there all the same.
"use strict";

(() => {
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  tip.dir = "auto";
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const texts = new WeakMap();

  for (const mark of document.querySelectorAll(".results-chart .chart-mark")) {
    const title = mark.querySelector("title");
    if (title) {
      texts.set(mark, title.textContent);
      title.remove(); // or the browser shows a second tooltip
    }
  }

  for (const cell of document.querySelectorAll(".heat td[title]")) {
    texts.set(cell, cell.title);
    cell.removeAttribute("title");
  }

  const markAt = (event) =>
    event.target instanceof Element
      ? event.target.closest(".results-chart .chart-mark, .heat td")
      : null;

  const hide = () => {
    tip.hidden = true;
  };

  const show = (event) => {
    const mark = markAt(event);
    if (!mark || !texts.has(mark)) {
      hide();
      return;
    }
    showAt(mark, event.clientX, event.clientY);
  };

  const showAt = (mark, x, y) => {
    tip.textContent = texts.get(mark);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(x + 14, window.innerWidth - width - 10);
    const below = y + 18;
    const above = y - height - 14;
    tip.style.left = `${Math.max(10, left)}px`;
    tip.style.top = `${below + height > window.innerHeight && above > 0 ? above : below}px`;
  };

  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  // The keyboard scrolls to what it shows, which must not hide it.
  let keptUntil = 0;
  const hideOnScroll = () => {
    if (performance.now() > keptUntil) hide();
  };
  document.addEventListener("scroll", hideOnScroll, { capture: true, passive: true });
  document.addEventListener("pointerleave", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // A finger reads the tooltip first; it follows the names in the table. A mouse may click.
  document.addEventListener("click", (event) => {
    const href = markAt(event)?.dataset.href;
    if (href && event.pointerType === "mouse") window.location.assign(href);
    const cell = event.target instanceof Element ? event.target.closest(".heat-all td") : null;
    if (cell && event.pointerType === "mouse") {
      // The table says once where the block of each row and column begins.
      const { workers, questions } = cell.closest("table").dataset;
      const worker = workers.split(" ")[cell.parentElement.rowIndex];
      const question = questions.split(" ")[cell.cellIndex];
      window.location.assign(`?workers=${worker}&questions=${question}#block`);
    }
  });

  // The keyboard: a picture takes the focus, arrow keys go from mark to mark, Enter follows a link.
  for (const svg of document.querySelectorAll(".results-chart svg")) {
    const marks = [...svg.querySelectorAll(".chart-mark")].filter((mark) => texts.has(mark));
    if (!marks.length) continue;
    svg.tabIndex = 0;
    svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")}. Arrow keys read its parts.`);
    const below = Number(svg.dataset.columns) || 1; // in a table, the mark of the next row
    let at = -1;
    const leave = () => {
      marks[at]?.classList.remove("chart-here");
      at = -1;
      hide();
    };
    const go = (to) => {
      marks[at]?.classList.remove("chart-here");
      at = Math.min(Math.max(to, 0), marks.length - 1);
      const mark = marks[at];
      mark.classList.add("chart-here");
      keptUntil = performance.now() + 400;
      mark.scrollIntoView({ block: "nearest" });
      const box = mark.getBoundingClientRect();
      showAt(mark, box.left + Math.min(box.width / 2, 240), box.top + box.height / 2);
    };
    const steps = {
      ArrowRight: () => go(at + 1),
      ArrowDown: () => go(at + below),
      ArrowLeft: () => go(at - 1),
      ArrowUp: () => go(at - below),
      Home: () => go(0),
      End: () => go(marks.length - 1),
      Escape: leave,
      Enter: () => {
        const href = marks[at]?.dataset.href;
        if (href) window.location.assign(href);
      },
    };
    svg.addEventListener("keydown", (event) => {
      if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      steps[event.key]();
    });
    svg.addEventListener("blur", leave);
  }

  const SCALE = 2;

  const savePng = async (button) => {
    const image = new Image();
    image.src = button.dataset.picture;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `crowdgrade-${button.closest(".results-chart").dataset.chart}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };

  for (const button of document.querySelectorAll(".chart-png")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const words = button.textContent;
      button.disabled = true;
      try {
        await savePng(button);
      } catch {
        button.textContent = "The picture could not be drawn: take the SVG";
        return;
      } finally {
        button.disabled = false;
      }
      button.textContent = words;
    });
  }
})();
