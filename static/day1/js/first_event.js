// A page that waits for an agent's first event: told by the server's stream, asked for again where there is
// none. Nothing is asked for while the page is hidden, and no more once the event has come.
const POLL_MS = 3000;
const SETTLE_MS = 1000; // a page that is only passed through opens no stream

export function first_event() {
    const panel = document.querySelector("[data-first-event]");
    if (!panel) return;
    let stream = null;
    let timer = null;
    let poll = null;
    let ended = false;
    let shown = "";

    const has_event = () => Boolean(panel.querySelector('[data-state="event"]'));

    async function refresh() {
        const had = has_event();
        const answer = await fetch(panel.dataset.firstEvent, { cache: "no-store" }).catch(() => null);
        if (!answer) return; // the server may be back at the next look
        if (answer.redirected || answer.status === 403 || answer.status === 404) return end();
        if (!answer.ok) return;
        const html = await answer.text();
        if (html !== shown) panel.innerHTML = shown = html; // what is the same is not read out again
        if (had || !has_event()) return;
        end();
        document.dispatchEvent(new Event("day1:connected")); // the page shows from now on what happens
    }

    function start() {
        clearTimeout(timer);
        if (!stream && !ended && !document.hidden) timer = setTimeout(follow, SETTLE_MS);
    }

    function follow() {
        stream = new EventSource(panel.dataset.stream);
        stream.addEventListener("activity", refresh);
        poll = setInterval(() => {
            if (stream.readyState !== EventSource.OPEN) refresh();
        }, POLL_MS);
    }

    function stop() {
        stream?.close();
        clearTimeout(timer);
        clearInterval(poll);
        stream = timer = poll = null;
    }

    function end() {
        ended = true;
        stop();
    }

    document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
    addEventListener("pagehide", stop);
    addEventListener("pageshow", start);
    start();
}

// The tab that is chosen stands in the address; not on a page that was an answer to a form.
export function programs() {
    const tabs = document.querySelector("[data-programs]");
    if (!tabs || document.querySelector("[data-once]")) return;
    tabs.addEventListener("change", (event) => {
        if (event.target.name !== "client") return;
        const address = new URL(location.href);
        address.searchParams.set("client", event.target.value);
        history.replaceState(history.state, "", address);
    });
}
