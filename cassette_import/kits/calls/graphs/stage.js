"use strict";
// What every page of a graph has: the world can be moved and scaled, and keys and clicks choose what is in it. The page
// defines fit, begin, select, find, activate and goToFirst.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const stage = byId("stage"), world = byId("world"), search = byId("search");
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// ---- zooming and panning: the picture is as large as the stage

let scale = 1, left = 0, top_ = 0;
function move() { world.setAttribute("transform", `translate(${left} ${top_}) scale(${scale})`); }
function zoomAt(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const next = Math.min(4, Math.max(0.03, scale * factor));
  left = x - (x - left) * next / scale;
  top_ = y - (y - top_) * next / scale;
  scale = next;
  move();
}
function fitInto(width, height) {
  scale = Math.min(1.2, stage.clientWidth / width, stage.clientHeight / height);
  left = Math.max(0, (stage.clientWidth - width * scale) / 2);
  top_ = 0;
  move();
}
function centreOn(box) {
  scale = Math.max(scale, 0.8);
  left = stage.clientWidth / 2 - (box.x + box.width / 2) * scale;
  top_ = stage.clientHeight / 2 - (box.y + box.height / 2) * scale;
  move();
}

// ---- mouse, touch and keyboard

const pointers = new Map();
let moved = false;
stage.addEventListener("pointerdown", (event) => {
  if (event.target.closest("#zoom") || event.button > 0) return;
  pointers.set(event.pointerId, event);
  moved = false;
});
window.addEventListener("pointermove", (event) => {
  const last = pointers.get(event.pointerId);
  if (!last) return;
  const by = [event.clientX - last.clientX, event.clientY - last.clientY];
  if (!moved && Math.hypot(...by) < 4) return;
  moved = true;
  stage.classList.add("dragging");
  if (pointers.size === 2) {  // pinching
    const other = [...pointers.values()].find((each) => each.pointerId !== event.pointerId);
    const apart = (each) => Math.hypot(each.clientX - other.clientX, each.clientY - other.clientY) || 1;
    const frame = stage.getBoundingClientRect();
    zoomAt(apart(event) / apart(last), other.clientX - frame.left, other.clientY - frame.top);
  } else {
    left += by[0];
    top_ += by[1];
    move();
  }
  pointers.set(event.pointerId, event);
});
for (const kind of ["pointerup", "pointercancel"]) {
  window.addEventListener(kind, (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) stage.classList.remove("dragging");
  });
}
stage.addEventListener("click", (event) => { if (!moved && !event.target.closest("#zoom")) activate(event.target); });
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = stage.getBoundingClientRect();
  zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
}, {passive: false});
const STEP = 80;
const KEYS = {
  ArrowLeft: () => { left += STEP; move(); },
  ArrowRight: () => { left -= STEP; move(); },
  ArrowUp: () => { top_ += STEP; move(); },
  ArrowDown: () => { top_ -= STEP; move(); },
  "+": () => zoomAt(1.25), "=": () => zoomAt(1.25), "-": () => zoomAt(0.8), "0": () => fit(),
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.value = "";
    select(-1);
    find();
    stage.focus();
  } else if (event.target === search) {
    if (event.key === "Enter") goToFirst();
  } else if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.target.closest("#world [tabindex]") && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    activate(event.target);
  } else if (stage.contains(event.target) && KEYS[event.key] && !event.ctrlKey && !event.altKey && !event.metaKey) {
    event.preventDefault();
    KEYS[event.key]();
  }
});
search.addEventListener("input", () => find());
byId("in").addEventListener("click", () => zoomAt(1.25));
byId("out").addEventListener("click", () => zoomAt(0.8));
byId("fit").addEventListener("click", () => fit());
window.addEventListener("resize", () => begin());
