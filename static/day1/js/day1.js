// What every page runs. Each module leaves a page that works as it is without scripts.
import { copying } from "./copy.js";
import { drafts } from "./drafts.js";
import { first_event, programs } from "./first_event.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { menus } from "./menus.js";
import { once } from "./once.js";
import { palette } from "./palette.js";
import { row_actions } from "./rows.js";
import { sending } from "./serial.js";
import { time_strip } from "./time_strip.js";
import { toasts } from "./toasts.js";
import { undos } from "./undo.js";

menus();
toasts();
copying();
palette();
keys();
drafts();
sending();
row_actions();
undos();
once();
programs();
first_event();
time_strip();
live();
