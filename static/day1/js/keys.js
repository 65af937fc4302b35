// Keys of one letter, as the help lists them. They click what is on the page, so nothing is refused that
// a button would not be; they can be turned off, and never act while somebody types.
const OFF = "day1-keys-off";
const WAIT = 1500; // milliseconds for the letter after g

let since = 0;

export function keys() {
    document.addEventListener("keydown", pressed);
    document.addEventListener("change", (event) => {
        if (event.target.matches("[data-keys]")) localStorage.setItem(OFF, event.target.checked ? "" : "1");
    });
}

// Whether a key is no command: somebody types, a dialog is open, or the keys are turned off.
export function asleep(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return true;
    return Boolean(localStorage.getItem(OFF) || document.querySelector("dialog[open]"));
}

function pressed(event) {
    if (asleep(event)) return;
    const after = Date.now() - since < WAIT;
    since = 0;
    if (act(event.key, after)) event.preventDefault();
}

function act(key, after) {
    if (after) return click(`.sections [data-letter="${CSS.escape(key)}"]`);
    if (key === "g") return (since = Date.now()) > 0;
    if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
    if (key === "/") return focus("main input[type=search]") || click('.sections [data-letter="s"]');
    if (key === "?") return overlay();
    if (key === "u") return click("[data-undo]");
    if (key === "x") return click("input[type=checkbox]", current());
    return act_on_row(key);
}

// v, i, e and others: the button that says data-key, of the row where one is, else of the page.
function act_on_row(key) {
    if (!/^[a-z]$/.test(key)) return false;
    const wanted = `[data-key="${key}"]`;
    return (current() && click(wanted, current())) || click(`main ${wanted}`);
}

const typing = (element) =>
    element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio])");

const rows = () => [...document.querySelectorAll("main [data-rows] > *, main .rows > li, main tbody > tr")];
const current = () => document.querySelector("main .at");

function click(selector, within = document) {
    const found = within?.querySelector(selector);
    found?.click();
    return Boolean(found);
}

function focus(selector) {
    const found = document.querySelector(selector);
    found?.focus();
    return Boolean(found);
}

function move(by) {
    const all = rows();
    if (!all.length) return false;
    const from = all.indexOf(current());
    const to = from < 0 ? 0 : Math.min(Math.max(from + by, 0), all.length - 1);
    current()?.classList.remove("at");
    all[to].classList.add("at");
    const link = all[to].querySelector("a.line, a, button");
    link?.focus({ preventScroll: true });
    all[to].scrollIntoView({ block: "nearest" });
    return true;
}

function overlay() {
    const dialog = document.getElementById("overlay");
    if (!dialog) return click("[data-help]");
    dialog.showModal();
    htmx.ajax("GET", dialog.dataset.page, { target: "#overlay-body", swap: "innerHTML" }).then(() => {
        const box = dialog.querySelector("[data-keys]");
        if (box) box.checked = !localStorage.getItem(OFF);
    });
    return true;
}
