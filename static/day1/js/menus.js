// The menus are <details>: close them on a click elsewhere and with Escape, and keep them in the window.
const EDGE = 8; // pixels that stay free beside one
const open = () => document.querySelectorAll("details.menu[open]");

export function menus() {
    // On a phone the sections are one line that scrolls: the current one is brought into sight.
    document.querySelector(".sections [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    document.addEventListener("click", (event) => {
        for (const menu of open()) {
            if (!menu.contains(event.target)) menu.open = false;
        }
    });
    document.addEventListener("toggle", (event) => event.target.matches("details.menu[open]") && fit(event.target), true);
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
