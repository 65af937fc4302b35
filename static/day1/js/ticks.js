// Ticks in the list of facts: how many rows are ticked, and all of a page at once. Without it, forms still work.
const rows = document.getElementById("rows");

function count() {
    const label = rows.querySelector("[data-chosen]");
    if (!label) return;
    const ticked = rows.querySelectorAll('input[name="fact"]:checked').length;
    const every = rows.querySelector("input[data-every]");
    label.dataset.empty ??= label.textContent;
    if (every?.checked) label.textContent = label.dataset.every;
    else if (ticked === 0) label.textContent = label.dataset.empty;
    else label.textContent = ticked === 1 ? label.dataset.one : label.dataset.many.replace("#", ticked);
}

if (rows) {
    rows.addEventListener("change", (event) => {
        if (event.target.matches("[data-all]")) {
            for (const box of rows.querySelectorAll('input[name="fact"]')) box.checked = event.target.checked;
        }
        count();
    });
    count(); // a browser keeps the ticks when it goes back
}
