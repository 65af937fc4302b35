// Requests that change something leave one after another, in the order of the presses, at any latency.
let last = Promise.resolve();
let waiting = 0;
let leaving = false;

// Run a job after all that were queued before it; the promise is the job's own.
export function in_turn(job) {
    waiting += 1;
    const done = last.then(job).finally(() => (waiting -= 1));
    last = done.catch(() => {});
    return done;
}

export const is_busy = () => waiting > 0;

// A form was sent, or the page is loaded anew: what is pressed from now on is for the next page.
export const leave = () => (leaving = true);
export const stay = () => (leaving = false);
export const is_leaving = () => leaving;

// A page that answers with another place, such as the login, is followed.
export async function post(address, body, options = {}) {
    const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
    const answer = await fetch(address, { method: "POST", body, headers, ...options });
    const elsewhere = answer.headers.get("HX-Redirect");
    if (elsewhere) {
        leave();
        location.assign(elsewhere);
    }
    return answer;
}

export async function read(answer) {
    return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const BESIDE = "#toasts, #request-gates, #request-status, .count[id]";

// What an answer brings along beside its own part: messages, how much waits on a branch, how a merge stands.
export function replace_toasts(page) {
    for (const fresh of page.querySelectorAll(BESIDE)) {
        const shown = document.getElementById(fresh.id);
        if (shown && shown.dataset.branch === fresh.dataset.branch) shown.replaceWith(fresh);
    }
}

export function sending() {
    addEventListener("beforeunload", (event) => {
        if (is_busy() && !leaving) event.preventDefault();
    });
    addEventListener("pageshow", stay);
}
