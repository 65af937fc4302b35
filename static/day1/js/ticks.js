// Ticks in a list of facts or messages: how many rows are ticked, and all of a page at once. Without it, forms still work.
const rows = document.getElementById("rows");
const TICKS = 'input[name="fact"], input[name="message"]';

function count() {
    const label = rows.querySelector("[data-chosen]");
    if (!label) return;
    const ticked = [...rows.querySelectorAll(TICKS)].filter((box) => box.checked).length;
    const every = rows.querySelector("input[data-every]");
    label.dataset.empty ??= label.textContent;
    if (every?.checked) label.textContent = label.dataset.every;
    else if (ticked === 0) label.textContent = label.dataset.empty;
    else label.textContent = ticked === 1 ? label.dataset.one : label.dataset.many.replace("#", ticked);
}

if (rows) {
    rows.addEventListener("change", (event) => {
        if (event.target.matches("[data-all]")) {
            for (const box of rows.querySelectorAll(TICKS)) box.checked = event.target.checked;
        }
        count();
    });
    count(); // a browser keeps the ticks when it goes back
}
