// The menus of the bar are <details>: close them on a click elsewhere and with Escape.
const open = () => document.querySelectorAll("details.menu[open]");

export function menus() {
    // On a phone the sections are one line that scrolls: the current one is brought into sight.
    document.querySelector(".sections [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    document.addEventListener("click", (event) => {
        for (const menu of open()) {
            if (!menu.contains(event.target)) menu.open = false;
        }
    });
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        for (const menu of open()) {
            menu.open = false;
            menu.querySelector("summary").focus();
        }
    });
}
