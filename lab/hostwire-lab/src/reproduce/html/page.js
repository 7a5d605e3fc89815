"use strict";
const by = id => document.getElementById(id);
const rows = [...document.querySelectorAll("table.claims tbody tr")];
function filter() {
  const text = by("search").value.toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = (key) => [row.dataset[key], ""].includes(by(key).value);
    row.hidden = ![fits("class"), fits("verdict"), row.textContent.toLowerCase().includes(text)].every(Boolean);
    shown += row.hidden ? 0 : 1;
  }
  by("shown").textContent = shown + " of " + rows.length + " shown";
}
for (const id of ["class", "verdict", "search"]) by(id).addEventListener("input", filter);
filter();
for (const point of document.querySelectorAll("[data-tip]")) {
  point.addEventListener("mousemove", event => {
    const tip = by("tip");
    tip.textContent = point.dataset.tip;
    tip.style.cssText = "display: block; left: " + Math.max(4, Math.min(event.clientX + 14, innerWidth - 360)) + "px; top: " + (event.clientY + 14) + "px";
  });
  point.addEventListener("mouseleave", () => { by("tip").style.display = "none"; });
}
for (const key of document.querySelectorAll(".key")) {
  key.addEventListener("click", () => {
    key.classList.toggle("off");
    for (const line of key.ownerSVGElement.querySelectorAll("g[data-series]:not(.key)"))
      if (line.dataset.series === key.dataset.series) line.style.display = key.classList.contains("off") ? "none" : "";
  });
}
