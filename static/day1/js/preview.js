// In a wide window a fact is read beside its list: a click, or j and k, fetch the part of its page. In a narrow one,
// and without this, the link leads to the page. The address remembers the fact; Back leaves the list.
import { expect_action } from "./undo.js";
import { in_turn, read, replace_toasts } from "./serial.js";

const SETTLE_MS = 150; // a row that j only passes over is not fetched
const PARAMETER = "shown";

const list = document.getElementById("rows");
const pane = document.querySelector("[data-preview]");
let chosen = null; // the line whose fact is shown, or on its way
let timer = null;

const is_wide = () => pane.offsetParent !== null;
const row_of = (link) => link.closest(".rows > li");
const id_of = (link) => new URL(link.href).pathname.split("/").pop();

function mark(row) {
    document.querySelector("main .at")?.classList.remove("at");
    row.classList.add("at");
}

async function show(link) {
    clearTimeout(timer);
    chosen = link;
    const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
    const answer = await fetch(link.href, { headers }).catch(() => null);
    if (!answer || chosen !== link) return; // the server is away, or another fact was chosen meanwhile
    if (!answer.ok || answer.headers.get("HX-Redirect")) return location.assign(link.href);
    fill((await read(answer)).body);
    const address = new URL(location.href);
    address.searchParams.set(PARAMETER, id_of(link));
    history.replaceState(history.state, "", address);
}

function fill(part) {
    pane.replaceChildren(...part.childNodes);
    pane.scrollTop = 0;
    htmx.process(pane);
}

// A second click on the line of the fact that is shown opens its page, and so do Enter and a new tab.
function clicked(event) {
    const link = event.target.closest("a.line");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.detail !== 1;
    if (!link || elsewhere || !is_wide() || id_of(link) === new URL(location.href).searchParams.get(PARAMETER)) return;
    event.preventDefault();
    mark(row_of(link));
    show(link);
}

function focused(event) {
    if (!event.target.matches(".at a.line") || !is_wide()) return;
    clearTimeout(timer);
    timer = setTimeout(() => show(event.target), SETTLE_MS);
}

// What is done beside the list changes the list too: both are drawn anew.
async function send(form, data) {
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: data });
    const page = await read(answer);
    if (answer.url.includes("/login")) return location.reload();
    replace_toasts(page);
    if (answer.ok) await draw_row();
    else fill(page.getElementById("content")); // it says why not
    return answer.ok;
}

async function draw_row() {
    const row = row_of(chosen);
    const fresh = (await read(await fetch(location.href))).getElementById(row.id);
    if (fresh) row.replaceWith(fresh);
    const link = (fresh ?? row).querySelector("a.line");
    mark(row_of(link));
    await show(link);
}

function submitted(event) {
    const form = event.target;
    if (form.method !== "post" || event.submitter?.formMethod === "dialog") return;
    event.preventDefault();
    if ("sent" in form.dataset) return;
    form.dataset.sent = "";
    expect_action(in_turn(() => send(form, new FormData(form, event.submitter))));
}

if (list && pane) {
    list.addEventListener("click", clicked);
    list.addEventListener("focusin", focused);
    pane.addEventListener("submit", submitted);
    const uid = new URL(location.href).searchParams.get(PARAMETER);
    const link = uid && list.querySelector(`a.line[href*="${CSS.escape(uid)}"]`);
    if (link && is_wide()) {
        mark(row_of(link));
        show(link);
    }
}
