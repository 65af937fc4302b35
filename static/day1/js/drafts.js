// What was typed into a form whose sending led to the login, since the session had run out, or was refused since
// the form was out of date, or got no answer: back in the form.
// It is kept in this tab only, until the next page is opened in any other way.
import { is_login } from "./root.js";

const KEPT = "day1-draft";
const SECRET = new Set(["csrfmiddlewaretoken"]);

export function drafts() {
    document.addEventListener("submit", keep, true);
    addEventListener("pageshow", (event) => event.persisted && wait_for_form());
    const kept = sessionStorage.getItem(KEPT);
    if (!kept) return;
    const draft = JSON.parse(kept);
    if (is_login(location.pathname)) return store({ ...draft, answered: true });
    draft.unanswered ||= went_back() && !draft.answered;
    sessionStorage.removeItem(KEPT);
    if (draft.path === location.pathname) bring_back(draft);
    else if (draft.unanswered) store(draft);
}

// A page as it was left is shown again, and nothing of it runs anew: the draft is still here, so no page came.
function wait_for_form() {
    const kept = sessionStorage.getItem(KEPT);
    const draft = kept && JSON.parse(kept);
    if (draft && !draft.answered) store({ ...draft, unanswered: true });
}

function store(draft) {
    sessionStorage.setItem(KEPT, JSON.stringify(draft));
}

function bring_back(draft) {
    if (document.querySelector("[data-again]")) restore(draft);
    else if (came_from_login() && restore(draft)) tell("[data-restored]");
    else if (draft.unanswered && restore(draft)) tell("[data-unanswered]");
}

function tell(message) {
    document.querySelector(message)?.removeAttribute("hidden");
}

function keep(event) {
    const form = event.target;
    if (is_login(location.pathname) || form.method !== "post" || form.closest(".bar, .toasts")) return;
    const fields = [...form.elements].filter((field) => field.name && !SECRET.has(field.name) && kind(field));
    const values = fields.map((field) => [field.name, field.value, field.checked ?? false]);
    const draft = { path: location.pathname, form: form_key(form), values };
    store(draft);
    setTimeout(() => event.defaultPrevented && store({ ...draft, answered: true })); // by a script, on this page
}

const kind = (field) => field.matches("input:not([type=password], [type=file], [type=submit]), select, textarea");
const form_key = (form) => `${form.closest("[id]")?.id ?? ""} ${form.getAttribute("action") ?? ""}`;

function came_from_login() {
    return document.referrer && is_login(new URL(document.referrer).pathname);
}

// Any answer would have opened a page, and that would have dropped the draft. The way back from a browser's own
// page of errors may lead to the page before the form; the draft then waits for the form.
function went_back() {
    return performance.getEntriesByType("navigation")[0]?.type === "back_forward";
}

function restore(draft) {
    const form = [...document.forms].find((one) => form_key(one) === draft.form && one.method === "post");
    if (!form) return false;
    for (const [name, value, checked] of draft.values) fill(form, name, value, checked);
    return true;
}

// A version that was read comes back too, so that a change made meanwhile is still noticed.
function fill(form, name, value, checked) {
    for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (!kind(field)) continue;
        if (field.matches("[type=checkbox], [type=radio]")) {
            if (field.value === value) field.checked = checked;
        } else {
            if (field.value !== value) open(field);
            field.value = value;
        }
    }
}

function open(field) {
    for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}
