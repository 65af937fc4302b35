// The menus are <details>: close them on a click elsewhere and with Escape, and keep them in the window.
const EDGE = 8; // pixels that stay free beside one
const open = () => document.querySelectorAll("details.menu[open]");

export function menus() {
    showSection(document.querySelector(".sections [aria-current]"));
    for (const current of document.querySelectorAll(".tabs [aria-current]")) centre(current, current.closest(".tabs"));
    document.addEventListener("click", (event) => {
        for (const menu of open()) {
            if (!menu.contains(event.target)) menu.open = false;
        }
    });
    document.addEventListener("toggle", (event) => event.target.matches("details.menu[open]") && fit(event.target), true);
    document.addEventListener("toggle", (event) => event.target.querySelector?.(":scope.editor[open] textarea")?.focus(), true);
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        for (const menu of open()) {
            menu.open = false;
            menu.querySelector("summary").focus();
        }
    });
}

// What would open beyond an edge of the window is moved into it.
function fit(menu) {
    const body = menu.querySelector(".menu-body");
    body.style.translate = "";
    const { left, right } = body.getBoundingClientRect();
    const beyond = right + EDGE - document.documentElement.clientWidth;
    if (beyond > 0) body.style.translate = `${-beyond}px`;
    else if (left < EDGE) body.style.translate = `${EDGE - left}px`;
}

// The current section is brought into sight in its list, which is one line on a phone; the page itself stays.
function showSection(current) {
    if (!current) return;
    const line = current.closest(".sections");
    const list = line.firstElementChild;
    centre(current, line);
    const [place, high] = [current, list].map((element) => element.getBoundingClientRect());
    list.scrollTop += Math.max(0, place.bottom - high.bottom) + Math.min(0, place.top - high.top);
}

// A line that is drawn sideways shows its current entry in the middle.
function centre(current, line) {
    const [place, wide] = [current, line].map((element) => element.getBoundingClientRect());
    line.scrollLeft += place.left + place.width / 2 - wide.left - wide.width / 2;
}
