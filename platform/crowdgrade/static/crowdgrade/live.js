// Renews the figures of a page while somebody looks at it: the site makes the part anew, and what
// differs is put in place of what stands there. Nothing is asked for while the page is hidden.
document.addEventListener("DOMContentLoaded", () => {
  const live = document.querySelector("[data-live]");
  if (!live) return;
  const part = (name) => document.querySelector(`[data-live-${name}]`);
  const EVERY = 5000, LONGEST = 120000, SAID_EVERY = 60000;
  let timer = null, under_way = null, failures = 0, reached = clock(), said_at = Date.now();
  let told = live.querySelector("[data-live-told]").dataset.liveTold;
  const state = live.querySelector("[data-live-state]").dataset.liveState;
  const seen = new Map();
  for (const one of live.querySelectorAll("[data-live-part]")) seen.set(one.dataset.livePart, one.innerHTML);

  function clock() {
    return new Date().toISOString().slice(11, 19);
  }

  const FOCUSED = "a[href], button, input, select, textarea, summary, [tabindex]";
  // Puts a part in place; who stands in it with the keyboard, or has moved a table, stays there.
  const put = (old, html) => {
    const at = [...old.querySelectorAll(FOCUSED)].indexOf(document.activeElement);
    const scrolled = [...old.querySelectorAll(".cg-table-wrap")].map((one) => one.scrollLeft);
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    old.innerHTML = html;
    old.querySelectorAll(".cg-table-wrap").forEach((one, i) => { one.scrollLeft = scrolled[i] || 0; });
    old.querySelectorAll("details").forEach((one, i) => { one.open = open[i] || false; });
    if (at >= 0) old.querySelectorAll(FOCUSED)[at]?.focus({ preventScroll: true });
  };

  const show = (html) => {
    const made = new DOMParser().parseFromString(html, "text/html");
    const top = made.querySelector("[data-live-told]");
    if (!top) throw new Error("no such part");
    for (const one of top.querySelectorAll("[data-live-part]")) {
      const old = live.querySelector(`[data-live-part="${one.dataset.livePart}"]`);
      // A form that is being filled in is left alone until it is sent.
      const typing = old && old.querySelector("form")?.contains(document.activeElement);
      if (!old || typing || seen.get(one.dataset.livePart) === one.innerHTML) continue;
      seen.set(one.dataset.livePart, one.innerHTML);
      put(old, one.innerHTML);
    }
    part("turned").hidden = top.dataset.liveState === state;
    // Read out once a minute at most, and only what is new.
    if (top.dataset.liveTold !== told && Date.now() - said_at > SAID_EVERY) {
      told = top.dataset.liveTold;
      said_at = Date.now();
      part("say").textContent = told;
    }
    reached = clock();
    part("at").textContent = reached;
  };

  const trouble = (words) => {
    const box = part("trouble");
    if (box.textContent !== words) box.textContent = words;
    box.hidden = !words;
  };

  const look = async () => {
    timer = null;
    under_way = new AbortController();
    const begun = performance.now();
    const late = setTimeout(() => under_way?.abort(), 30000);
    try {
      const answer = await fetch(live.dataset.live + location.search, {
        signal: under_way.signal,
        headers: { Accept: "text/html" },
      });
      // Signed out, or the set is gone or no longer shared: the page itself says so.
      if (answer.redirected || answer.status === 403 || answer.status === 404) {
        trouble("These figures can no longer be read from here: load the page again.");
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.text());
      failures = 0;
      trouble("");
    } catch {
      if (document.hidden) return;
      failures += 1;
      trouble(`Not reached since ${reached} UTC; trying again. What stands below may be old.`);
    } finally {
      clearTimeout(late);
      under_way = null;
    }
    // A slow site is asked less often: it spends a twentieth of its time on this page at most.
    const pause = failures ? EVERY * 2 ** failures : Math.max(EVERY, 20 * (performance.now() - begun));
    wait(Math.min(pause, LONGEST));
  };

  const wait = (pause) => {
    clearTimeout(timer);
    timer = document.hidden ? null : setTimeout(look, pause);
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
      timer = null;
    } else if (!under_way) {
      wait(0);
    }
  });
  addEventListener("online", () => { if (!under_way) wait(0); });
  wait(EVERY);
});
