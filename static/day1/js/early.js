// Presses of u before the modules of a page run are kept; undo.js plays them.
addEventListener("keydown", function keep(event) {
    if (window.day1_runs) return removeEventListener("keydown", keep);
    const is_command = event.key === "u" && !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!is_command || event.target.matches("input, textarea, select") || localStorage.getItem("day1-keys-off")) return;
    sessionStorage.setItem("day1-undo-presses", Number(sessionStorage.getItem("day1-undo-presses") ?? 0) + 1);
});
// So are the addresses that undo what a page has told of, when it is left before its modules run.
addEventListener("pagehide", () => {
    if (window.day1_runs) return;
    const stack = JSON.parse(sessionStorage.getItem("day1-undo") ?? "[]");
    for (const button of document.querySelectorAll("#toasts [data-undo]")) stack.push(button.form.getAttribute("action"));
    sessionStorage.setItem("day1-undo", JSON.stringify(stack));
});
