// What can be done on this page, for the palette: its buttons and links, those of the marked row, and the choices
// of the reader's menu. An entry clicks what is on the page, so nothing is refused that a button would not be.
const ACTIONS = "a.button, button, summary, .order a, th a, .exports a, .tabs a, .pages a";
const CHOICES = "[data-choices] button"; // in a menu that is closed
const ROWS = "[data-rows] > *, .rows > li, tbody > tr, .tree li, [data-preview]";
const MAX_ENTRIES = 12;

// A group of options that fit the words, or null.
export function list_actions(dialog, query) {
    const found = [...document.querySelectorAll("main")].flatMap((main) => [...main.querySelectorAll(ACTIONS)]);
    const entries = found.filter(is_offered).map((element) => [element, name_action(element, dialog)]);
    entries.push(...[...document.querySelectorAll(CHOICES)].map((element) => [element, name_choice(element)]));
    const fitting = entries.filter(([, name]) => name && name.toLowerCase().includes(query.toLowerCase()));
    return fitting.length ? draw_group(dialog, fitting.slice(0, MAX_ENTRIES)) : null;
}

// Of a row only when it is marked: a key or an entry never acts on another one.
function is_offered(element) {
    const row = element.closest(ROWS);
    if (element.disabled || (row && !row.classList.contains("at"))) return false;
    return element.checkVisibility?.() ?? Boolean(element.offsetParent);
}

function name_action(element, dialog) {
    const name = (element.getAttribute("aria-label") || element.innerText || element.title || "").replace(/\s+/g, " ").trim();
    if (element.matches(".order a, th a")) return `${dialog.dataset.sort}: ${name}`;
    const lead = element.closest(".exports")?.querySelector("span");
    return lead ? `${lead.textContent.trim()} ${name}` : name;
}

function name_choice(button) {
    const heading = button.closest("ul").previousElementSibling;
    const name = button.textContent.replace(/\s+/g, " ").trim();
    return heading?.matches("h2") ? `${heading.textContent.trim()}: ${name}` : name;
}

function draw_group(dialog, entries) {
    const group = document.createElement("div");
    group.dataset.own = "";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", dialog.dataset.own);
    const title = Object.assign(document.createElement("div"), { className: "group", textContent: dialog.dataset.own });
    group.append(title, ...entries.map(([element, name]) => draw_option(dialog, element, name)));
    return group;
}

function draw_option(dialog, element, name) {
    const option = document.createElement("a");
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.tabIndex = -1;
    option.href = element.href || "#";
    option.append(Object.assign(document.createElement("span"), { className: "cut", textContent: name }));
    option.addEventListener("click", (event) => {
        event.preventDefault();
        dialog.close();
        if (element.matches("summary")) element.focus();
        element.click();
    });
    return option;
}
