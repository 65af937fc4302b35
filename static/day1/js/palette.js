// The command palette: Ctrl-K or Cmd-K, or the button in the bar. The server answers with a list box, and what
// can be done on this page stands behind it.
import { list_actions } from "./page_actions.js";

export function palette() {
    const dialog = document.getElementById("palette");
    if (!dialog) return;
    const input = dialog.querySelector("input");
    const list = document.getElementById("palette-list");
    const options = () => [...list.querySelectorAll("[role=option]")];
    const chosen = () => list.querySelector("[aria-selected=true]");

    const choose = (option) => {
        chosen()?.setAttribute("aria-selected", "false");
        if (!option) return input.removeAttribute("aria-activedescendant");
        option.setAttribute("aria-selected", "true");
        input.setAttribute("aria-activedescendant", option.id);
        option.scrollIntoView({ block: "nearest" });
    };
    const step = (by) => {
        const all = options();
        if (all.length) choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
    };
    const open = () => {
        if (dialog.open) return;
        dialog.showModal();
        input.select();
        input.dispatchEvent(new CustomEvent("palette-open"));
    };

    document.addEventListener("keydown", (event) => {
        if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) {
            event.preventDefault();
            open();
        }
    });
    for (const link of document.querySelectorAll("[data-palette]")) {
        link.addEventListener("click", (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            open();
        });
    }
    input.addEventListener("keydown", (event) => {
        const moves = { ArrowDown: 1, ArrowUp: -1 };
        if (event.key in moves) {
            event.preventDefault();
            step(moves[event.key]);
        } else if (event.key === "Enter" && chosen()) {
            event.preventDefault();
            chosen().click();
        }
    });
    input.addEventListener("htmx:after:swap", () => {
        const own = list_actions(dialog, input.value.trim());
        if (own) list.append(own);
    });
    // A click beside the dialog's content closes it.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    new MutationObserver(() => {
        // Named here and not by the server: htmx gives an element the attributes of one that had its id before.
        options().forEach((option, index) => (option.id = `palette-option-${index}`));
        choose(options()[0]);
    }).observe(list, { childList: true });
}
