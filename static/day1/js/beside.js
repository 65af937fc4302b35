// The story of the marked fact beside the queue, in a wide window: evidence, history with its differences, similar
// facts and the judge's reasons. A question that the keys only pass over is not fetched. It is loaded before
// queue.js, which marks the first.
import { read } from "./serial.js";

const SETTLE_MS = 150;
const pane = document.querySelector("[data-preview]");
let address = "";
let timer = null;

async function show() {
    const wanted = address;
    const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
    const answer = await fetch(wanted, { headers }).catch(() => null);
    if (!answer?.ok || answer.headers.get("HX-Redirect") || wanted !== address) return;
    pane.replaceChildren(...(await read(answer)).body.childNodes);
    pane.scrollTop = 0;
    htmx.process(pane);
}

function marked(event) {
    const link = event.target.querySelector("[data-story]");
    if (!link || pane.offsetParent === null || link.href === address) return;
    address = link.href;
    clearTimeout(timer);
    timer = setTimeout(show, SETTLE_MS);
}

if (pane) document.addEventListener("day1:marked", marked);
