// The review queue by keys: j k move, x selects, 1 2 choose, v i e answer, u undoes, ? shows the keys.
// Every key presses a button or a box that is on the page anyway.
import { asleep } from "./keys.js";

const queue = document.querySelector("[data-queue]");
const keys = document.getElementById("queue-keys");

const questions = () => [...queue.querySelectorAll(".question:not([data-answered])")];
let current = queue ? questions()[0] : null;

function mark(question) {
    current?.classList.remove("at");
    current = question;
    question?.classList.add("at");
}

function point(question) {
    mark(question);
    question?.focus({ preventScroll: true });
    question?.scrollIntoView({ block: "nearest" });
}

function move(step) {
    const all = questions();
    const place = all.indexOf(current);
    point(all[Math.min(Math.max(place + step, 0), all.length - 1)]);
}

// The answer goes to all that are selected, or to the one where the reader is.
function press(key) {
    const chosen = questions().filter((one) => one.querySelector("[data-select]")?.checked);
    for (const question of chosen.length && key !== "e" ? chosen : [current]) {
        question?.querySelector(`[data-key="${key}"]`)?.click();
    }
    if (key === "e") current?.querySelector("textarea")?.focus();
}

function undo() {
    const all = document.querySelectorAll("#toasts [data-undo]");
    all[all.length - 1]?.click();
}

const ACTIONS = {
    j: () => move(1),
    k: () => move(-1),
    x: () => current?.querySelector("[data-select]")?.click(),
    1: () => current?.querySelector('[data-nth="1"]')?.click(),
    2: () => current?.querySelector('[data-nth="2"]')?.click(),
    v: () => press("v"),
    i: () => press("i"),
    e: () => press("e"),
    u: undo,
    "?": () => keys.showModal(),
};

// Before the keys of every page (keys.js), which know rows but not questions; a letter after g is theirs.
let last = "";
document.addEventListener(
    "keydown",
    (event) => {
        const after = last;
        last = event.key;
        if (after === "g" || asleep(event) || !queue || !ACTIONS[event.key]) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        ACTIONS[event.key]();
    },
    true,
);

function settle() {
    if (!queue) return;
    const all = questions();
    document.querySelector("[data-all-done]")?.toggleAttribute("hidden", all.length > 0);
    if (!current?.isConnected || current.hasAttribute("data-answered")) point(next(all));
}

// After an answer: the question that stood behind it, else the last.
function next(all) {
    const answered = current && document.getElementById(current.id);
    if (!answered) return all[0];
    const behind = (one) => answered.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
    return all.find(behind) ?? all[all.length - 1];
}

if (queue) {
    queue.addEventListener("focusin", (event) => {
        const question = event.target.closest(".question:not([data-answered])");
        if (question) mark(question);
    });
    new MutationObserver(settle).observe(queue, { childList: true });
    const button = document.querySelector("[data-show-keys]");
    button.hidden = false;
    button.addEventListener("click", () => keys.showModal());
    mark(current);
}
