// The menus of the bar are <details>: close them on a click elsewhere and with Escape.
const open = () => document.querySelectorAll("details.menu[open]");

export function menus() {
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
