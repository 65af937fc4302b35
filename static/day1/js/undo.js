// u takes back the last action, pressed again the one before it, several steps back. Each message with a way
// to undo puts its address on a stack, which this tab keeps from page to page.
import { is_login } from "./root.js";
import { in_turn, is_busy, is_leaving, leave, post } from "./serial.js";

const STACK = "day1-undo";
const PRESSES = "day1-undo-presses"; // for the page that is on its way, and from early.js
const MAX_STEPS = 20;

const coming = []; // actions on their way, the oldest first: each a promise of whether it was done
const handlers = []; // what can show an undone action without loading the page anew

let stale = false; // something was undone that this page still shows as it was

const load = () => JSON.parse(sessionStorage.getItem(STACK) ?? "[]");
const save = (stack) => sessionStorage.setItem(STACK, JSON.stringify(stack.slice(-MAX_STEPS)));
const forget = (address) => save(load().filter((one) => one !== address));

export function undos() {
    if (is_login(location.pathname)) sessionStorage.removeItem(STACK);
    collect();
    new MutationObserver(collect).observe(document.body, { childList: true, subtree: true });
    document.addEventListener("submit", pressed, true);
    window.day1_runs = true;
    const presses = Number(sessionStorage.getItem(PRESSES) ?? 0);
    sessionStorage.removeItem(PRESSES);
    for (let press = 0; press < presses; press += 1) undo();
}

// An action that was sent: undoing waits for it, and takes nothing back where it was refused.
export function expect_action(done) {
    coming.push(done);
    done.finally(() => coming.includes(done) && coming.splice(coming.indexOf(done), 1));
}

// Called with the address that was undone; answers whether the page shows it now.
export const on_undone = (handler) => handlers.push(handler);

export function undo() {
    if (is_leaving()) {
        sessionStorage.setItem(PRESSES, Number(sessionStorage.getItem(PRESSES) ?? 0) + 1);
        return true;
    }
    const action = coming.pop();
    if (!action && !load().length && !is_busy()) return false;
    take_back(async () => {
        if (action && !(await action)) return "";
        const stack = load();
        const address = stack.pop();
        save(stack);
        return address;
    });
    return true;
}

function collect() {
    for (const button of document.querySelectorAll("#toasts [data-undo]:not([data-known])")) {
        button.dataset.known = "";
        const address = button.form.getAttribute("action");
        save([...load().filter((one) => one !== address), address]);
    }
}

// The buttons of messages do the same as the key.
function pressed(event) {
    if (!event.target.matches("#toasts form")) return;
    event.preventDefault();
    event.stopPropagation();
    const form = event.target;
    if ("sent" in form.dataset) return;
    form.dataset.sent = "";
    const address = form.getAttribute("action");
    forget(address);
    take_back(() => address);
}

async function take_back(choose) {
    let shown = true;
    await in_turn(async () => {
        const address = await choose();
        if (address) shown = await send(address);
    });
    if (!shown && !is_busy() && !is_leaving()) reload();
    else if (!shown) stale = true;
}

function reload() {
    leave();
    location.reload();
}

// Whether the page shows that it is undone. Its message waits for the page that is shown next.
async function send(address) {
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const answer = await post(address, new URLSearchParams({ csrfmiddlewaretoken: token }), { keepalive: true });
    if (is_leaving()) return true;
    if (answer.status !== 204) return refuse(address, token);
    for (const show of handlers) {
        if (await show(address)) return !stale;
    }
    return false;
}

// What may not be undone has a page that says why: it is asked for as a form would.
function refuse(address, token) {
    const form = Object.assign(document.createElement("form"), { method: "post", action: address, hidden: true });
    form.append(Object.assign(document.createElement("input"), { name: "csrfmiddlewaretoken", value: token }));
    document.body.append(form);
    leave();
    form.submit();
    return true;
}
