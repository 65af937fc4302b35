// What was typed into a form whose sending led to the login, since the session had run out, or was refused since
// the form was out of date: back in the form.
// It is kept in this tab only, until the next page is opened in any other way.
const KEPT = "day1-draft";
const SECRET = new Set(["csrfmiddlewaretoken"]);

export function drafts() {
    document.addEventListener("submit", (event) => keep(event.target), true);
    const kept = sessionStorage.getItem(KEPT);
    if (!kept || location.pathname === "/login") return;
    sessionStorage.removeItem(KEPT);
    const draft = JSON.parse(kept);
    if (draft.path !== location.pathname) return;
    if (document.querySelector("[data-again]")) restore(draft);
    else if (came_from_login() && restore(draft)) document.querySelector("[data-restored]")?.removeAttribute("hidden");
}

function keep(form) {
    if (location.pathname === "/login" || form.method !== "post" || form.closest(".bar, .toasts")) return;
    const fields = [...form.elements].filter((field) => field.name && !SECRET.has(field.name) && kind(field));
    const values = fields.map((field) => [field.name, field.value, field.checked ?? false]);
    sessionStorage.setItem(KEPT, JSON.stringify({ path: location.pathname, form: form_key(form), values }));
}

const kind = (field) => field.matches("input:not([type=password], [type=file], [type=submit]), select, textarea");
const form_key = (form) => `${form.closest("[id]")?.id ?? ""} ${form.getAttribute("action") ?? ""}`;

function came_from_login() {
    return document.referrer && new URL(document.referrer).pathname === "/login";
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
