// Times are shown in the zone of the browser, which a cookie tells the server.
import { ROOT } from "./root.js";

const COOKIE = "day1_timezone";
const A_YEAR = 31536000; // seconds

export function timezone() {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const root = document.documentElement;
    if (!zone || root.dataset.timezone === undefined) return;
    if (root.dataset.timezone !== zone) tell(zone);
    document.addEventListener("formdata", (event) => make_explicit(event.target, event.formData));
}

// The page that was rendered in another zone is asked for anew, once: an unknown zone stays UTC, and so does one of
// a browser that keeps no cookies of scripts.
function tell(zone) {
    const pair = `${COOKIE}=${zone}`;
    const is_kept = () => document.cookie.split("; ").includes(pair);
    const known = is_kept();
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `${pair}; path=${ROOT}; max-age=${A_YEAR}; samesite=lax${secure}`;
    if (!known && is_kept() && document.querySelector("time, [type=datetime-local]")) location.reload();
}

// An address means the same to everybody: what a form writes into one is a time in UTC.
function make_explicit(form, data) {
    if (form.method !== "get") return;
    for (const field of form.querySelectorAll("[type=datetime-local]")) {
        const at = new Date(field.value);
        if (field.name && !Number.isNaN(at.getTime())) data.set(field.name, at.toISOString());
    }
}
