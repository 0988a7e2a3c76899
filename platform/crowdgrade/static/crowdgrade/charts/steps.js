// The slider of a map: shows each iteration by the numbers that the picture carries. Without this
// file the picture is that of the last iteration.
"use strict";

(() => {
  const PAUSE = 900;

  for (const steps of document.querySelectorAll(".chart-steps")) {
    const slider = steps.querySelector("input[type=range]");
    const caption = steps.querySelector(".chart-caption");
    const play = steps.querySelector(".chart-play");
    const captions = JSON.parse(steps.dataset.captions);
    const iterations = steps.dataset.iterations.split(" ");
    const file = steps.querySelector(".chart-svg");
    const png = steps.querySelector(".chart-png");
    const address = file.getAttribute("href");
    if (captions.length < 2) continue;

    const split = (list) => list.split(" ");
    const dots = [...steps.querySelectorAll("[data-radii]")].map((mark) => ({
      circle: mark.querySelector("circle"),
      radii: split(mark.dataset.radii),
      grades: split(mark.dataset.grades),
    }));
    const stars = [...steps.querySelectorAll("[data-path]")].map((mark) => {
      mark.classList.add("chart-moves");
      return { mark, path: split(mark.dataset.path).map((place) => place.split(",")) };
    });

    const show = (at) => {
      for (const { circle, radii, grades } of dots) {
        circle.setAttribute("r", radii[at]);
        circle.setAttribute("class", `chart-grade-${grades[at]}`);
      }
      for (const { mark, path } of stars) {
        mark.setAttribute("transform", `translate(${path[at][0]} ${path[at][1]})`);
      }
      caption.textContent = captions[at];
      slider.setAttribute("aria-valuetext", captions[at]);
      const there = `${address}&iteration=${iterations[at]}`;
      file.setAttribute("href", there);
      png.dataset.picture = there;
    };

    let timer = 0;
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    };
    const next = () => {
      const at = Number(slider.value) + 1;
      slider.value = at;
      show(at);
      if (at >= captions.length - 1) stop();
    };

    slider.addEventListener("input", () => {
      stop();
      show(Number(slider.value));
    });
    play.addEventListener("click", () => {
      if (timer) {
        stop();
        return;
      }
      if (Number(slider.value) >= captions.length - 1) {
        slider.value = 0;
        show(0);
      }
      play.textContent = "Pause";
      timer = setInterval(next, PAUSE);
    });
    slider.value = captions.length - 1; // a browser that goes back keeps an old value
    slider.setAttribute("aria-valuetext", captions[captions.length - 1]);
    steps.querySelector(".chart-slider-row").hidden = false;
  }
})();
