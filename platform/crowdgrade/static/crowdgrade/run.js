// Keeps the page of a run that has not ended up to date; reloads it once the run has ended.
document.addEventListener("DOMContentLoaded", () => {
  const card = document.querySelector("[data-run-status]");
  if (!card) return;
  const part = (name) => card.querySelector(`[data-run-${name}]`);
  let state = part("state").textContent.trim();
  let pause = 1000;

  const show = (progress) => {
    if (progress.state !== state) {
      part("state").textContent = progress.state;
      part("state").className = `cg-badge cg-${progress.state}`;
      state = progress.state;
    }
    if (part("line").textContent !== progress.line) part("line").textContent = progress.line;
    if (progress.percent === null) part("bar").removeAttribute("value");
    else part("bar").value = progress.percent;
    part("waiting").hidden = !progress.waiting;
    part("trouble").hidden = true;
  };

  // What the kind of run shows beside, such as how far each model is; made by the site.
  const beside = document.querySelector("[data-run-standing]");
  const showBeside = async () => {
    if (!beside) return;
    const answer = await fetch(beside.dataset.runStanding);
    if (answer.ok && !answer.redirected) beside.innerHTML = await answer.text();
  };

  const look = async () => {
    try {
      const answer = await fetch(card.dataset.runStatus, { headers: { Accept: "application/json" } });
      // Signed out meanwhile, or the run is gone: the page itself says so.
      if (answer.redirected || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      const progress = await answer.json();
      // Paused or resumed elsewhere: the page has other buttons then.
      const turned = (progress.state === "paused") !== (card.dataset.runState === "paused");
      if (progress.finished || turned) return location.reload();
      show(progress);
      if (!document.hidden) await showBeside();
      pause = document.hidden ? 10000 : 1500;
    } catch {
      part("trouble").hidden = false;
      pause = Math.min(pause * 2, 30000);
    }
    setTimeout(look, pause);
  };
  setTimeout(look, pause);
});
