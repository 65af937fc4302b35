// A toast can be closed, and goes by itself when it offers nothing to undo and nobody is pointing at it.
const PATIENCE = 6000;

export function toasts() {
    const list = document.getElementById("toasts");
    if (!list) return;
    for (const toast of list.querySelectorAll(".toast")) prepare(toast);
    // A fragment may bring others in the place of the list.
    new MutationObserver(() => {
        for (const toast of document.querySelectorAll("#toasts .toast:not([data-ready])")) prepare(toast);
    }).observe(document.body, { childList: true, subtree: true });
}

// Show a warning that no answer brought as a message.
export function tell(text) {
    const toast = document.querySelector("#toasts [data-restored]")?.cloneNode(true);
    if (!toast || !text) return;
    for (const name of ["data-restored", "data-ready", "hidden"]) toast.removeAttribute(name);
    toast.querySelector("span").textContent = text.replace(/\s+/g, " ").trim();
    document.getElementById("toasts").append(toast);
}

function prepare(toast) {
    toast.dataset.ready = "";
    const close = toast.querySelector("[data-close]");
    close.hidden = false;
    close.addEventListener("click", () => toast.remove());
    if (toast.querySelector("[data-undo], [data-redo]") || !toast.matches(".success, .info")) return;
    let timer = 0;
    const start = () => (timer = setTimeout(() => toast.remove(), PATIENCE));
    toast.addEventListener("pointerenter", () => clearTimeout(timer));
    toast.addEventListener("pointerleave", start);
    toast.addEventListener("focusin", () => clearTimeout(timer));
    start();
}
