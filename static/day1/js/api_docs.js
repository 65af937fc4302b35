// What Swagger UI leaves out: a name for the choice of an example, and a way to scroll code with the keyboard.
const page = document.getElementById("swagger-ui");

function complete() {
    for (const choice of page.querySelectorAll(".examples-select-element:not([aria-label])")) choice.setAttribute("aria-label", "Example");
    for (const code of page.querySelectorAll(".microlight:not([tabindex])")) code.tabIndex = 0;
}

new MutationObserver(complete).observe(page, { childList: true, subtree: true });
