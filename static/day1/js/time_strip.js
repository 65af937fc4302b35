// The strip of the past: its handle is dragged, or moved by arrow keys, and the page is read at that day.
const WAIT = 450; // milliseconds after the last key

let timer = 0;

export function time_strip() {
    const strip = document.querySelector(".time-strip");
    const range = strip?.querySelector("input");
    if (!range) return;
    const days = strip.dataset.days.split(",");
    const note = strip.querySelector("output");
    range.hidden = false;
    const day = () => days[range.valueAsNumber] ?? "";
    range.addEventListener("input", () => {
        const text = day() || strip.dataset.now;
        range.setAttribute("aria-valuetext", text);
        note.textContent = text;
        note.hidden = false;
        note.style.insetInlineStart = `${(100 * range.valueAsNumber) / range.max}%`;
    });
    range.addEventListener("change", () => {
        clearTimeout(timer);
        timer = setTimeout(() => read_at(day()), WAIT);
    });
}

function read_at(day) {
    const address = new URL(location.href);
    address.searchParams.delete("cursor");
    if (day) address.searchParams.set("at", day);
    else address.searchParams.delete("at");
    if (address.href !== location.href) location.assign(address);
}
