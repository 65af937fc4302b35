// Copying to the clipboard; and a page that shows something once is not asked for again by reloading it.
export function copying() {
    for (const button of document.querySelectorAll("[data-copy]")) {
        if (!navigator.clipboard) continue;
        button.hidden = false;
        button.addEventListener("click", async () => {
            const source = document.getElementById(button.dataset.copy);
            await navigator.clipboard.writeText(source.value ?? source.textContent);
            button.querySelector("span").textContent = button.dataset.copied;
        });
    }
    if (document.querySelector("[data-once]")) history.replaceState(null, "", location.href);
}
