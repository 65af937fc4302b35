// A form is sent once: a double click, or a key that is pressed again before the next page is here, changes
// nothing. Where no page comes (somebody stops it), the form works again after a while.
import { leave, stay } from "./serial.js";

const RELEASE_MS = 5000;

export function once() {
    document.addEventListener("submit", (event) => {
        const form = event.target;
        const sends = form.method === "post" && event.submitter?.formMethod !== "dialog";
        if (event.defaultPrevented || !sends) return;
        if ("sent" in form.dataset) return event.preventDefault();
        form.dataset.sent = "";
        leave();
        setTimeout(() => {
            delete form.dataset.sent;
            stay();
        }, RELEASE_MS);
    });
    // The back button may bring a page as it was left.
    addEventListener("pageshow", () => {
        for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
    });
}
