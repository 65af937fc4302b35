// What every page runs. Each module leaves a page that works as it is without scripts.
import { copying } from "./copy.js";
import { drafts } from "./drafts.js";
import { keys } from "./keys.js";
import { menus } from "./menus.js";
import { palette } from "./palette.js";
import { toasts } from "./toasts.js";

menus();
toasts();
copying();
palette();
keys();
drafts();
