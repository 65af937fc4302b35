// A page that shows what happens while one looks: the server's stream says that there is something new, and the
// page reads itself again. What a reader is in the middle of is never taken away: then a line offers it. A server
// that is not there is told and waited for. Nothing is asked for while the page is hidden.
import { is_changed, is_typing } from "./keys.js";
import { is_busy, is_leaving, read } from "./serial.js";

const SETTLE_MS = 1000; // a page that is only passed through opens no stream
const SILENCE_MS = 3000; // of a server, until it is told, and between two looks whether it is there again
const AGAIN_MS = 10_000; // after a refusal, such as that of too many streams
const LEAST_MS = 2000; // between two looks, and ten times as long as one takes
const SHARE = 10;
const MOST_MS = 30_000; // for one look, until it is given up

export function live() {
    const main = document.querySelector("main[data-live]");
    const notice = document.querySelector("[data-live-notice]");
    if (!main || !notice) return;
    let stream = null;
    let position = 0; // what the page shows
    let newest = 0; // what the stream has told
    let is_reading = false;
    let start_timer = null;
    let read_timer = null;
    let silence_timer = null;
    let may_read_at = 0;
    let was_silent = false;
    let is_late = false; // whether what the stream told of may have more behind it: see [data-late]
    let is_kept = false; // whether a panel has news that is not shown: see [data-steady]
    let is_new = false; // the server, whose first answer takes longer than those that follow

    function show(name) {
        notice.hidden = !name;
        for (const text of notice.children) text.hidden = text.dataset.state !== name;
    }

    function start() {
        clearTimeout(start_timer);
        if (!stream && !document.hidden && !is_waiting(main)) start_timer = setTimeout(follow, SETTLE_MS);
    }

    function follow() {
        const address = new URL(main.dataset.live, location.href);
        if (position) address.searchParams.set("after", position);
        stream = new EventSource(address);
        stream.addEventListener("open", opened);
        stream.addEventListener("error", failed);
        stream.addEventListener("change", (event) => {
            newest = JSON.parse(event.data).position;
            is_late = true;
            look();
        });
    }

    function opened() {
        clearTimeout(silence_timer);
        silence_timer = null;
        if (was_silent) look();
        was_silent = false;
        if (!notice.querySelector('[data-state="newer"]:not([hidden])')) show("");
    }

    // A browser tries again by itself, but not after a refusal: then the page itself tells what is the matter.
    function failed() {
        if (stream.readyState !== EventSource.CLOSED) {
            silence_timer ??= setTimeout(tell_silence, SILENCE_MS);
            return;
        }
        stop();
        start_timer = setTimeout(follow, AGAIN_MS);
        look();
    }

    function tell_silence() {
        was_silent = is_new = true;
        show("silent");
    }

    function look() {
        clearTimeout(read_timer);
        read_timer = setTimeout(refresh, Math.max(200, may_read_at - Date.now()));
    }

    // Only what was put in place counts as shown: the stream tells the rest again to a page that was hidden meanwhile.
    async function refresh() {
        if (document.hidden) return;
        if (is_busy() || is_leaving() || is_reading) return look();
        if (is_occupied(main)) return show("newer");
        const told = newest;
        const answer = await ask();
        if (!answer || answer.status >= 500) return try_again(answer ? AGAIN_MS : SILENCE_MS);
        if (was_silent) follow_again();
        if (answer.redirected || !answer.ok) return show("newer"); // what it is now, the page says when it is opened
        if (is_busy() || is_leaving()) return look(); // what the reader does now is not in the answer
        if (is_occupied(main)) return show("newer");
        is_kept = keep_panels(answer.page);
        await put_in_place(answer.page);
        if (!is_kept) position = Math.max(position, told);
        show(is_kept ? "newer" : "");
        look_once_more();
    }

    // What a prompt was told is kept behind the event that told of the prompt, and no event tells of it.
    function look_once_more() {
        if (is_late && main.querySelector("[data-late]")) read_timer = setTimeout(refresh, Math.max(LEAST_MS, may_read_at - Date.now()));
        is_late = false;
    }

    function look_again() {
        if (is_kept && ![...document.querySelectorAll("[data-steady]")].some(is_read)) look();
    }

    async function ask() {
        is_reading = true;
        const began = Date.now();
        let share = SHARE;
        const options = { cache: "no-store", headers: { "X-Live": "1" }, signal: AbortSignal.timeout(MOST_MS) };
        try {
            const answer = await fetch(location.href, options);
            const { status, redirected, ok } = answer;
            if (is_new && ok) share = 0;
            is_new &&= !ok;
            return { status, redirected, ok, page: await read(answer) };
        } catch {
            return null;
        } finally {
            is_reading = false;
            may_read_at = Date.now() + Math.max(LEAST_MS, share * (Date.now() - began));
        }
    }

    // The stream may be open still, and would not tell that the page can be read again.
    function try_again(after) {
        tell_silence();
        clearTimeout(read_timer);
        read_timer = setTimeout(refresh, after);
    }

    // What the server refused, or did not answer, before it was silent is not waited for any more.
    function follow_again() {
        was_silent = false;
        if (stream?.readyState === EventSource.OPEN) return;
        clearTimeout(start_timer);
        stream?.close();
        follow();
    }

    async function put_in_place(page) {
        const marked = main.querySelector(".at[id]")?.id;
        keep_connection(page);
        await replace("#content", page);
        await replace(".sections", page);
        if (marked) document.getElementById(marked)?.classList.add("at"); // the row that the keys are at
    }

    function stop() {
        stream?.close();
        for (const timer of [start_timer, read_timer, silence_timer]) clearTimeout(timer);
        stream = start_timer = read_timer = silence_timer = null;
    }

    document.addEventListener("click", note_opened);
    for (const name of ["scroll", "pointerover", "focusout"]) document.addEventListener(name, look_again, { passive: true });
    document.addEventListener("day1:connected", start);
    document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
    addEventListener("pagehide", stop);
    addEventListener("pageshow", start);
    position = Number(new URL(main.dataset.live, location.href).searchParams.get("after"));
    start();
}

// Whether a reader types, has typed or ticked something, opened something, or marked a text.
function is_occupied(main) {
    const active = document.activeElement;
    if (document.querySelector("dialog[open]") || (main.contains(active) && is_typing(active))) return true;
    if (main.querySelector("details[open][data-opened], input[type=checkbox]:checked:not([checked])")) return true;
    if ([...main.querySelectorAll("input, select, textarea")].some((field) => is_typing(field) && is_changed(field))) return true;
    const marked = getSelection();
    return !marked.isCollapsed && main.contains(marked.anchorNode);
}

function note_opened(event) {
    const details = event.target.closest("main summary")?.parentElement;
    if (details) details.dataset.opened = "";
}

// What a reader has scrolled through, points at or has the focus in does not move: the news of such a panel wait.
function keep_panels(page) {
    const kept = [...document.querySelectorAll("[data-steady]")].filter(is_read);
    const pairs = kept.map((panel) => [panel, page.querySelector(`[data-steady="${panel.dataset.steady}"]`)]);
    const is_newer = pairs.some(([panel, fresh]) => fresh && list_targets(panel) !== list_targets(fresh));
    for (const [panel, fresh] of pairs) fresh?.replaceWith(panel.cloneNode(true));
    return is_newer;
}

function is_read(panel) {
    const is_scrolled = scrollY > 0 || panel.getBoundingClientRect().top < 0;
    return is_scrolled || panel.matches(":focus-within") || Boolean(panel.querySelector(":is(a, button, summary):hover"));
}

// Where a panel leads and what it offers: tokens of forms and times differ each time it is read.
function list_targets(panel) {
    return [...panel.querySelectorAll("a, button")].map((one) => one.getAttribute("href") ?? one.value).join(" ");
}

// Before the first event an agent's panel has a stream of its own, see first_event.js.
function is_waiting(main) {
    return Boolean(main.querySelector("[data-first-event]:not(:has([data-state=event]))"));
}

// A start page needs no panel any more once an agent is connected; that it is, stays readable.
function keep_connection(page) {
    const panel = document.querySelector("[data-first-event]");
    if (panel && !page.querySelector("[data-first-event]")) page.querySelector("#content h1")?.after(panel.cloneNode(true));
}

async function replace(selector, page) {
    const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
    if (!old || !fresh || old.innerHTML === fresh.innerHTML) return;
    await htmx.swap({ sourceElement: old, target: old, text: fresh.innerHTML, swap: "innerMorph" });
}
