// The review queue by keys: j k move, x selects, 1 2 choose, v i e answer, u undoes, ? shows the keys. The
// conflicts of a merge request are such questions too: there 1 2 b s answer, and e opens the editor.
// Every key presses a button or a box that is on the page anyway. An answer leaves the question at once; the
// next one is marked while it is on its way, and answers reach the server in the order of the presses.
import { asleep, is_changed, is_typing } from "./keys.js";
import { in_turn, post, read, replace_toasts } from "./serial.js";
import { expect_action, on_undone, undo } from "./undo.js";

const FETCH_BELOW = 6; // questions that wait on the page: the next ones are fetched before they run out

const queue = document.querySelector("[data-queue]");
const keys = document.getElementById("page-keys");

const questions = () => [...queue.querySelectorAll(".question:not([data-answered], [data-sent])")];
const drawn = new WeakSet(); // questions that the reader can have seen
const presses = []; // keys that wait for the next question to be drawn
let current = null;
let fetching = false;

// ---- the mark ----------------------------------------------------------------------------------------

function mark(question) {
    current?.classList.remove("at");
    current = question ?? null;
    if (!question) return;
    question.classList.add("at");
    question.dispatchEvent(new CustomEvent("day1:marked", { bubbles: true }));
    requestAnimationFrame(() =>
        setTimeout(() => {
            drawn.add(question);
            run();
        }),
    );
}

function point(question) {
    mark(question);
    question?.focus({ preventScroll: true });
    question?.scrollIntoView({ block: "nearest" });
}

function move(step) {
    const all = questions();
    const index = all.indexOf(current);
    point(all[Math.min(Math.max(index + step, 0), all.length - 1)]);
}

// The question that stands behind another, else the first that is left.
function behind(question) {
    const follows = (one) => question.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
    const all = questions();
    return all.find(follows) ?? all[0];
}

function settle() {
    const all = questions();
    const sent = queue.querySelector("[data-sent]");
    const more = fetching || document.querySelector(".pages [rel=next]");
    const done = document.querySelector("[data-all-done]");
    done?.toggleAttribute("hidden", Boolean(all.length || sent || more));
    if (done && !done.hidden && !current?.isConnected) done.querySelector("a")?.focus();
    if (all.length && !all.includes(current)) point(current?.isConnected ? behind(current) : all[0]);
    fetch_more();
}

// ---- keys --------------------------------------------------------------------------------------------

// The answer goes to all that are selected, or to the one where the reader is.
function press(key) {
    const chosen = questions().filter((one) => one.querySelector("[data-select]")?.checked);
    for (const question of chosen.length && key !== "e" ? chosen : [current]) {
        question.querySelector(`[data-key="${key}"]`)?.click();
    }
    if (key === "e") current?.querySelector("textarea")?.focus();
}

const ON_QUESTION = {
    x: () => current.querySelector("[data-select]")?.click(),
    1: () => current.querySelector('[data-nth="1"]')?.click(),
    2: () => current.querySelector('[data-nth="2"]')?.click(),
    v: () => press("v"),
    i: () => press("i"),
    e: () => press("e"),
    b: () => press("b"),
    s: () => press("s"),
    a: () => press("a"),
};
const ACTIONS = { j: () => move(1), k: () => move(-1), u: undo, "?": () => keys.showModal() };

// What is pressed is for a question that has been drawn, or waits until the next one is.
function run() {
    while (presses.length) {
        if (!current || !questions().includes(current)) return fetching ? undefined : presses.splice(0);
        if (!drawn.has(current)) return undefined;
        const key = presses.shift();
        if (key === "e") presses.splice(0); // what follows was meant for the editor
        if (in_sight(current)) ON_QUESTION[key]();
        else point(current); // scrolled away: the reader is led back, and nothing is answered unseen
    }
    return undefined;
}

function in_sight(question) {
    const { top, bottom } = question.getBoundingClientRect();
    return bottom > 0 && top < document.documentElement.clientHeight;
}

// Before the keys of every page (keys.js), which know rows but not questions; a letter after g is theirs.
let last = "";

function pressed(event) {
    const after = last;
    last = event.key;
    if (event.key === "Escape" && is_typing(event.target)) return leave_field(event);
    if (after === "g" || asleep(event)) return;
    const editing = presses.includes("e") && event.key.length === 1; // typed for an editor that is not open yet
    if (!editing && !ACTIONS[event.key] && !ON_QUESTION[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (editing) return;
    if (event.repeat && !/^[jk]$/.test(event.key)) return; // a key that is held down answers once
    if (ACTIONS[event.key]) return ACTIONS[event.key]();
    presses.push(event.key);
    run();
}

// Back to the question; an editor in which nothing was typed closes.
function leave_field(event) {
    const question = event.target.closest(".question");
    if (!question || event.isComposing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const editor = event.target.closest("details[open]");
    if (editor && !is_changed(event.target)) editor.open = false;
    question.focus({ preventScroll: true });
}

// ---- answers -----------------------------------------------------------------------------------------

function answer(event) {
    const question = event.target.closest(".question");
    event.preventDefault();
    if (!event.submitter?.name || "sent" in question.dataset) return;
    const data = new FormData(event.target, event.submitter);
    const address = event.target.getAttribute("action") || location.href;
    question.dataset.sent = "";
    question.setAttribute("aria-busy", "true");
    if (question === current) point(behind(question));
    expect_action(in_turn(() => send(question, address, data)));
    fetch_more();
}

// Whether the answer was taken; where it was not, the question is open again and says why.
async function send(question, address, data) {
    let answered = question;
    try {
        const page = await read(await post(address, data));
        answered = page.querySelector(".question");
        if (!answered) throw new Error(page.body.textContent);
        question.replaceWith(answered);
        replace_toasts(page);
        const undoing = document.querySelector("#toasts form:has([data-undo])");
        if (undoing && "answered" in answered.dataset) answered.dataset.undo = undoing.getAttribute("action");
    } catch {
        reopen(question);
        answered = question;
    }
    if (current === question && answered !== question) current = answered;
    settle();
    return "answered" in answered.dataset;
}

function reopen(question) {
    delete question.dataset.sent;
    question.removeAttribute("aria-busy");
    question.querySelector("[data-unsent]")?.removeAttribute("hidden");
}

// An answer of this page that was undone: its question is asked again in its place.
async function ask_again(address) {
    const answered = queue.querySelector(`[data-undo="${CSS.escape(address)}"]`);
    if (!answered?.dataset.again) return false;
    const page = await read(await fetch(answered.dataset.again, { headers: { "HX-Request": "true" } }));
    const question = page.querySelector(".question");
    if (!question) return false;
    answered.replaceWith(question);
    replace_toasts(page);
    if (!("answered" in question.dataset)) point(question);
    settle();
    return true;
}

async function fetch_more() {
    const next = document.querySelector(".pages [rel=next]");
    if (fetching || !next || questions().length >= FETCH_BELOW) return;
    fetching = true;
    try {
        const answer = await fetch(next.href);
        if (!answer.ok) throw new Error(answer.statusText);
        const page = await read(answer);
        for (const one of page.querySelectorAll("[data-queue] > .question")) {
            if (!document.getElementById(one.id)) queue.append(one);
        }
        const link = page.querySelector(".pages [rel=next]");
        if (link) next.replaceWith(link);
        else next.closest(".pages").remove();
        fetching = false;
        settle();
        run();
    } catch {
        fetching = false; // the link is still there, and the next answer asks again
    }
}

if (queue) {
    document.addEventListener("keydown", pressed, true);
    queue.addEventListener("submit", answer);
    // The second click of a double click falls on what has moved under the pointer.
    queue.addEventListener("click", (event) => event.detail > 1 && event.target.closest("[type=submit]") && event.preventDefault(), true);
    queue.addEventListener("focusin", (event) => {
        const question = event.target.closest(".question:not([data-answered], [data-sent])");
        if (question && question !== current) mark(question);
    });
    on_undone(ask_again);
    mark(questions()[0]);
    fetch_more();
}
