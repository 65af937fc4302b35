// A toast can be closed, and goes by itself unless it warns or somebody is at it; u still undoes what it told of.
const PATIENCE = 6000;
const PATIENCE_TO_UNDO = 15000;
const FEET = ".merge-foot, .bulk .action-bar";

export function toasts() {
    const list = document.getElementById("toasts");
    if (!list) return;
    look();
    // A fragment may bring others in the place of the list.
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    for (const moved of ["scroll", "resize", "change", "toggle"]) {
        addEventListener(moved, place, { capture: true, passive: true });
    }
}

function look() {
    for (const toast of document.querySelectorAll("#toasts .toast:not([data-ready])")) prepare(toast);
    place();
}

// Above a foot of actions, unless it leaves room below or beside it.
function place() {
    const list = document.getElementById("toasts");
    const shown = list.offsetHeight;
    let lift = 0;
    for (const foot of shown ? document.querySelectorAll(FEET) : []) {
        const { top, bottom, right } = foot.getBoundingClientRect();
        const is_below = innerHeight - bottom < shown + 2 * parseFloat(getComputedStyle(list).right);
        if (is_below && right > list.offsetLeft) lift = Math.max(lift, innerHeight - top);
    }
    document.documentElement.style.setProperty("--foot", `${lift}px`);
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
    if (!toast.matches(".success, .info")) return;
    const patience = toast.querySelector("[data-undo], [data-redo]") ? PATIENCE_TO_UNDO : PATIENCE;
    const leave = () => (toast.matches(":hover, :focus-within") ? wait() : toast.remove());
    const wait = () => setTimeout(leave, patience);
    wait();
}
