/** Names of items: what means something to Day1 is quoted, in the same way as by the adapters for Python. */

const EMPTY = "%"; // how an empty key is stored: no other one is written so

export function quote(text: string): string {
  const escape = (sign: string) => "%" + sign.charCodeAt(0).toString(16).toUpperCase();
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, escape)
    .replaceAll("%20", " ");
}

/** Return a namespace of segments, of which those equal to `keeps` stand for themselves. */
export function writeNamespace(segments: string[], keeps = ""): string {
  return segments.map((one) => (one === keeps ? one : quote(one))).join("/");
}

export function readNamespace(text: string): string[] {
  return text.split("/").map(decodeURIComponent);
}

export function writeKey(key: string): string {
  return /^\.+$/.test(key) ? key.replaceAll(".", "%2E") : quote(key) || EMPTY;
}

export function readKey(text: string): string {
  return text === EMPTY ? "" : decodeURIComponent(text);
}
