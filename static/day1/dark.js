// unfold and Swagger UI are dark by a class, named on this script's tag: set it before the first paint, follow
// the reader's choice, and where there is none the system's, also while the page is open.
const { class: name } = document.currentScript.dataset;
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => root.classList.toggle(name, root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
dark.addEventListener("change", follow);
follow();
