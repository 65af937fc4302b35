// A browser's back button may show a page as it was left, without asking the server: one that was left before a
// logout is read anew, and so leads to the login.
import { is_login } from "./root.js";

const LOGIN = "day1-login"; // when this browser last showed the login

export function logout() {
    if (is_login(location.pathname)) localStorage.setItem(LOGIN, Date.now());
    addEventListener("pageshow", (event) => {
        if (!event.persisted || Number(localStorage.getItem(LOGIN)) < performance.timeOrigin) return;
        document.documentElement.hidden = true;
        location.reload();
    });
}
