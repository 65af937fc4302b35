// Keys of one letter, as the help lists them. They click what is on the page, so nothing is refused that
// a button would not be; they can be turned off, and never act while somebody types.
import { undo } from "./undo.js";

const OFF = "day1-keys-off";
const WAIT = 1500; // milliseconds for the letter after g
const ROWS = "main [data-rows] > *, main .rows > li, main tbody > tr, main .tree li";
const PREVIEW = "[data-preview]"; // a fact that is shown beside its list: the keys are the list's

let since = 0;

export function keys() {
    document.addEventListener("keydown", pressed);
    document.addEventListener("focusin", follow);
    const button = document.querySelector("[data-show-keys]");
    if (button) button.hidden = false;
    button?.addEventListener("click", show_own);
    document.addEventListener("change", (event) => {
        if (event.target.matches("[data-keys]")) localStorage.setItem(OFF, event.target.checked ? "" : "1");
    });
}

// Whether a key is no command: somebody types, a dialog is open, or the keys are turned off.
export function asleep(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || is_typing(event.target)) return true;
    return Boolean(localStorage.getItem(OFF) || document.querySelector("dialog[open]"));
}

function pressed(event) {
    if (event.key === "Escape") return escape(event);
    if (asleep(event)) return;
    const after = Date.now() - since < WAIT;
    since = 0;
    if (event.repeat && !/^[jk]$/.test(event.key)) return; // a key that is held down decides once
    if (act(event.key, after)) event.preventDefault();
}

function act(key, after) {
    if (after) return click(`[data-letter="${CSS.escape(key)}"]`);
    if (key === "g") return (since = Date.now()) > 0;
    if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
    if (key === "/") return focus("main input[type=search]") || click('[data-letter="s"]');
    if (key === "?") return overlay();
    if (key === "u") return undo();
    if (key === "x") return click("input[type=checkbox]", current());
    return act_on_row(key);
}

// v, i, e and others: the button that says data-key, of the marked row; where none is marked, the page's own,
// never that of a row.
function act_on_row(key) {
    if (!/^[a-z]$/.test(key)) return false;
    const button = `[data-key="${key}"]`;
    if (current()) return click(button, current());
    const own = [...document.querySelectorAll(`main ${button}`)].find((one) => !one.closest(`${ROWS}, ${PREVIEW}`));
    own?.click();
    return Boolean(own);
}

export const is_typing = (element) =>
    element.isContentEditable || element.matches("textarea, select, input:not([type=checkbox], [type=radio])");

const rows = () => [...document.querySelectorAll(ROWS)].filter(is_shown);
// What is folded away has a place in the page, but is not seen.
const is_shown = (row) => row.offsetParent && (row.checkVisibility?.() ?? true) && !row.closest(PREVIEW);
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

function mark(row) {
    current()?.classList.remove("at");
    row?.classList.add("at");
}

// The mark goes where the focus goes, so that a key acts on what the reader sees chosen.
function follow(event) {
    if (!current() || !event.target.closest("main") || event.target.matches(`main, ${PREVIEW} *`)) return;
    if (!current().contains(event.target)) mark(event.target.closest(ROWS));
}

function move(by) {
    const all = rows();
    if (!all.length) return false;
    const from = all.indexOf(current());
    const to = from < 0 ? 0 : Math.min(Math.max(from + by, 0), all.length - 1);
    mark(all[to]);
    const link = all[to].querySelector("a.line, a, button");
    link?.focus({ preventScroll: true });
    all[to].scrollIntoView({ block: "nearest" });
    return true;
}

// Out of a field, then out of a row, then out of an editor in which nothing was typed.
function escape(event) {
    if (event.isComposing || document.querySelector("dialog[open], details.menu[open]")) return;
    const field = event.target;
    if (is_typing(field)) {
        event.preventDefault(); // a search field would lose its words
        field.blur();
    } else if (current()) {
        mark(null);
        document.activeElement?.blur();
    } else {
        leave_editor();
    }
}

// The editor is a page with a way back, or a part of a page that a key has opened.
function leave_editor() {
    const cancel = document.querySelector("main [data-cancel]");
    const opener = document.querySelector("main details[open] > summary[data-key]");
    const form = cancel?.closest("form") ?? opener?.parentElement;
    if (form && ![...form.querySelectorAll("input, select, textarea")].some(is_changed)) (cancel ?? opener).click();
}

export function is_changed(field) {
    if (field.matches("select")) return !is_default(field);
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    return field.matches("input, textarea") && field.value !== field.defaultValue;
}

// Where no option is marked as chosen, the first one is.
function is_default(select) {
    const own = [...select.options].filter((one) => one.defaultSelected);
    const chosen = own.length || select.multiple ? own : [select.options[0]];
    return [...select.options].every((one) => one.selected === chosen.includes(one));
}

// The keys of this page alone, where it has its own.
function show_own() {
    const dialog = document.getElementById("page-keys");
    dialog?.showModal();
    return Boolean(dialog);
}

function overlay() {
    if (show_own()) return true;
    const dialog = document.getElementById("overlay");
    if (!dialog) return click("[data-help]");
    dialog.showModal();
    htmx.ajax("GET", dialog.dataset.page, { target: "#overlay-body", swap: "innerHTML" }).then(() => {
        const box = dialog.querySelector("[data-keys]");
        if (box) box.checked = !localStorage.getItem(OFF);
    });
    return true;
}
