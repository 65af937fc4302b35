// The buttons of a row of facts act in place: the row is put right when the server has answered, and the keys
// go on meanwhile. Without this the form is sent as it is.
import { in_turn, read, replace_toasts } from "./serial.js";
import { expect_action } from "./undo.js";

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
    row.dataset.sent = "";
    row.setAttribute("aria-busy", "true");
    const data = new FormData(form, event.submitter);
    expect_action(in_turn(() => send(form, row, data)));
}

// The second click of a double click would act on what the first one has put there.
function clicked(event) {
    if (event.detail > 1 && event.target.closest("[data-fact-rows] [name=one]")) event.preventDefault();
}

// Whether it was done.
async function send(form, row, data) {
    try {
        const answer = await fetch(form.getAttribute("action") || location.href, { method: "POST", body: data });
        const page = await read(answer);
        if (!page.getElementById("toasts") || answer.url.includes("/login")) throw new Error(answer.url);
        show(row, page.getElementById(row.id));
        replace_toasts(page);
        return answer.ok && Boolean(document.querySelector("#toasts [data-undo]"));
    } catch {
        location.reload(); // it says what is wrong, or asks who is there
        return false;
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
