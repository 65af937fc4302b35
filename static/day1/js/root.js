// The path at which the server is reached: "/", or one below it behind a proxy. This file lies three folders below.
export const ROOT = new URL("../../../", import.meta.url).pathname;
export const is_login = (path) => path === `${ROOT}login`;
