// The buttons of a row of facts act in place: the row shows at once what was chosen, is put right when the
// server has answered, and says why where it refused; the keys go on meanwhile. Without this the form is sent
// as it is.
import { in_turn, read, replace_toasts } from "./serial.js";
import { tell } from "./toasts.js";
import { expect_action } from "./undo.js";

// Of each action: the states that it ends, and the one that it brings.
const EFFECTS = {
    verify: [["invalidated"], "verified"],
    invalidate: [["verified"], "invalidated"],
    pin: [[], "pinned"],
    unpin: [["pinned"], ""],
    archive: [[], "archived"],
    restore: [["archived"], ""],
    accept: [["created"], ""],
};

export function row_actions() {
    document.addEventListener("submit", submitted);
    document.addEventListener("click", clicked, true);
}

function submitted(event) {
    const form = event.target;
    const row = form.matches("[data-fact-rows]") && event.submitter?.name === "one" && event.submitter.closest("[id^=fact-]");
    if (!row) return;
    event.preventDefault();
    if ("sent" in row.dataset) return;
    const data = new FormData(form, event.submitter);
    const before = row.cloneNode(true);
    row.dataset.sent = "";
    row.setAttribute("aria-busy", "true");
    foresee(form, row, event.submitter.value.split(":")[0]);
    expect_action(in_turn(() => send(form, row, before, data)));
}

function foresee(form, row, action) {
    const [ended, brought] = EFFECTS[action] ?? [[], ""];
    for (const state of ended) row.querySelector(`.meta > .badge.${state}`)?.remove();
    const badge = brought && form.querySelector("[data-states]")?.content.querySelector(`.${brought}`);
    if (badge) row.querySelector(".meta")?.prepend(badge.cloneNode(true), " ");
}

// The second click of a double click would act on what the first one has put there.
function clicked(event) {
    if (event.detail > 1 && event.target.closest("[data-fact-rows] [name=one]")) event.preventDefault();
}

// Whether it was done.
async function send(form, row, before, data) {
    const answer = await ask(form, data);
    if (!answer) {
        show(row, before);
        tell(form.dataset.lost);
        return false;
    }
    const page = await read(answer);
    if (!page.getElementById("toasts") || answer.url.includes("/login")) {
        location.reload(); // it says what is wrong, or asks who is there
        return false;
    }
    show(row, page.getElementById(row.id) ?? (answer.ok ? null : before));
    replace_toasts(page);
    if (!answer.ok) tell(page.querySelector("main [role=alert], main .memory")?.textContent);
    return answer.ok && Boolean(document.querySelector("#toasts [data-undo]"));
}

// The answer, or null where none comes.
async function ask(form, data) {
    try {
        return await fetch(form.getAttribute("action") || location.href, { method: "POST", body: data });
    } catch {
        return null;
    }
}

// A row that the filters leave out by now stays where it is, without its buttons, until the page is opened anew.
function show(row, fresh) {
    if (fresh) {
        fresh.classList.toggle("at", row.classList.contains("at"));
        const focused = row.contains(document.activeElement);
        row.replaceWith(fresh);
        if (focused) fresh.querySelector("a.line, a")?.focus({ preventScroll: true });
    } else {
        row.classList.add("gone");
        row.removeAttribute("aria-busy");
        for (const control of row.querySelectorAll("button, input")) control.disabled = true;
        for (const one of row.querySelectorAll("input:checked")) one.checked = false;
    }
}
