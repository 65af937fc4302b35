// The drawing of a graph: laid out by forces that begin from the same places each time, so that a graph looks the
// same again. One entity is a stop of the Tab key, the arrow keys walk from there; Enter or a click shows it at the
// side. Without a script the entities stand in columns and each is a link.
import { read } from "./serial.js";

const MIN_WIDTH = 640; // pixels, below which the columns are easier to read
const MIN_HEIGHT = 440;
const HEIGHT = 24; // of a name
const GAP_X = 14;
const GAP_Y = 16;
const MARGIN = 12;
const TICKS = 300;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const region = document.querySelector(".graph");
const drawing = region?.querySelector("svg");

function load() {
    const nodes = [...drawing.querySelectorAll(".node")].map((element) => {
        const box = element.querySelector("rect");
        const x = Number(box.getAttribute("x"));
        const y = Number(box.getAttribute("y")) + HEIGHT / 2;
        return { element, box, text: element.querySelector("text"), key: element.dataset.node, width: 176, x, y };
    });
    const by_key = new Map(nodes.map((node) => [node.key, node]));
    const edges = [...drawing.querySelectorAll(".edge")].map((element) => ({
        element,
        source: by_key.get(element.dataset.source),
        target: by_key.get(element.dataset.target),
    }));
    return { nodes, edges };
}

// ---- layout ------------------------------------------------------------------------------------------

function measure(nodes) {
    for (const node of nodes) node.width = Math.ceil(node.text.getComputedTextLength()) + 18;
}

function settle({ nodes, edges }, width) {
    const start = nodes.find((node) => node.element.classList.contains("start"));
    nodes.forEach((node) => Object.assign(node, { x: undefined, y: undefined }));
    Object.assign(start, { fx: 0, fy: 0 });
    const links = edges.map(({ source, target }) => ({ source, target }));
    const height = Math.max(MIN_HEIGHT, nodes.length * 18);
    const within = () => nodes.forEach((node) => keep_within(node, width, height));
    const forces = d3.forceSimulation(nodes);
    const wide = Math.min(Math.max(2400 / nodes.length, 90), 190); // few entities have room for what joins them
    forces.force("links", d3.forceLink(links).distance(wide).strength(0.5));
    forces.force("apart", d3.forceManyBody().strength(-6 * wide).distanceMax(500));
    forces.force("across", d3.forceX().strength(0.02));
    forces.force("along", d3.forceY().strength(0.06));
    forces.force("boxes", () => part(nodes)).force("within", within);
    forces.stop().tick(TICKS);
    for (let round = 0; round < 80 && part(nodes); round += 1) within();
}

function keep_within(node, width, height) {
    node.x = clamp(node.x, (width - node.width) / 2 - MARGIN);
    node.y = clamp(node.y, (height - HEIGHT) / 2 - MARGIN);
}

const clamp = (value, most) => Math.min(Math.max(value, -Math.max(most, 0)), Math.max(most, 0));

// Move names that cover each other apart, along the shorter way; true where one was moved.
function part(nodes) {
    let moved = false;
    for (const [place, one] of nodes.entries())
        for (const other of nodes.slice(place + 1)) {
            const over_x = (one.width + other.width) / 2 + GAP_X - Math.abs(one.x - other.x);
            const over_y = HEIGHT + GAP_Y - Math.abs(one.y - other.y);
            if (over_x <= 0 || over_y <= 0) continue;
            moved = true;
            const axis = over_y < over_x ? "y" : "x";
            const by = ((axis === "y" ? over_y : over_x) / 2 + 0.1) * (one[axis] < other[axis] ? -1 : 1);
            shift(one, axis, other.fx === undefined ? by : 2 * by);
            shift(other, axis, one.fx === undefined ? -by : -2 * by);
        }
    return moved;
}

function shift(node, axis, by) {
    if (node.fx === undefined) node[axis] += by;
}

// ---- drawing -----------------------------------------------------------------------------------------

function draw({ nodes, edges }, width) {
    const high = nodes.map((node) => node.y);
    const top = Math.min(...high) - HEIGHT / 2 - MARGIN;
    const height = Math.max(...high) + HEIGHT / 2 + MARGIN - top;
    drawing.setAttribute("viewBox", `${-width / 2} ${top} ${width} ${height}`);
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", height);
    nodes.forEach(draw_node);
    const counts = new Map();
    edges.forEach((edge) => draw_edge(edge, counts));
}

function draw_node({ box, text, x, y, width }) {
    box.setAttribute("x", x - width / 2);
    box.setAttribute("y", y - HEIGHT / 2);
    box.setAttribute("width", width);
    text.setAttribute("x", x);
    text.setAttribute("y", y + 4);
    text.setAttribute("text-anchor", "middle");
}

// Lines between the same two entities bend away from each other; one of an entity to itself is a loop.
function draw_edge(edge, counts) {
    const { element, source, target } = edge;
    const pair = [source.key, target.key].sort().join("\n");
    const count = counts.get(pair) ?? 0;
    counts.set(pair, count + 1);
    const bend = Math.ceil(count / 2) * 22 * (count % 2 ? 1 : -1) * (source.key < target.key ? 1 : -1);
    edge.middle = source === target ? loop(element, source) : line(element, source, target, bend);
    element.removeAttribute("marker-start");
    element.setAttribute("marker-end", "url(#graph-arrow)");
}

function loop(element, { x, y, width }) {
    const right = x + width / 2;
    element.setAttribute("d", `M${right} ${y - 6}C${right + 34} ${y - 26} ${right + 34} ${y + 26} ${right + 2} ${y + 6}`);
    return [right + 26, y];
}

function line(element, source, target, bend) {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const far = Math.hypot(dx, dy) || 1;
    const middle = [(source.x + target.x) / 2 - (dy / far) * bend, (source.y + target.y) / 2 + (dx / far) * bend];
    const [from, to] = [border(source, middle, 0), border(target, middle, 3)];
    element.setAttribute("d", `M${from}Q${middle.map((one) => one.toFixed(1))} ${to}`);
    return [(from[0] + 2 * middle[0] + to[0]) / 4, (from[1] + 2 * middle[1] + to[1]) / 4];
}

// Where the way from the middle of a box to a point leaves it.
function border(node, [x, y], gap) {
    const [dx, dy] = [x - node.x, y - node.y];
    const reach = Math.min((node.width / 2 + gap) / (Math.abs(dx) || 1e-6), (HEIGHT / 2 + gap) / (Math.abs(dy) || 1e-6));
    return [node.x + dx * Math.min(reach, 1), node.y + dy * Math.min(reach, 1)].map((one) => Number(one.toFixed(1)));
}

// ---- what is around one ------------------------------------------------------------------------------

function light({ nodes, edges }, chosen) {
    const own = edges.filter((edge) => edge.source === chosen || edge.target === chosen);
    const near = new Set(own.flatMap((edge) => [edge.source, edge.target]));
    drawing.classList.toggle("is-lit", Boolean(chosen));
    edges.forEach((edge) => edge.element.classList.toggle("lit", own.includes(edge)));
    nodes.forEach((node) => node.element.classList.toggle("lit", node === chosen || near.has(node)));
    drawing.querySelectorAll(".kind").forEach((kind) => kind.remove());
    const taken = nodes.map(({ x, y, width }) => ({ x, y, width }));
    own.filter((edge) => edge.middle).forEach((edge) => write_kind(edge, taken));
}

// The kind of a relation at its line, where there is room for it; the table and the side have it too.
function write_kind({ element, middle: [x, y] }, taken) {
    const kind = document.createElementNS("http://www.w3.org/2000/svg", "text");
    kind.textContent = element.dataset.kind;
    for (const [name, value] of Object.entries({ class: "kind", x, y: y + 4, "text-anchor": "middle" }))
        kind.setAttribute(name, value);
    drawing.append(kind);
    const own = { x, y, width: kind.getComputedTextLength() };
    if (taken.some((other) => covers(own, other))) kind.remove();
    else taken.push(own);
}

function covers(one, other) {
    const near = Math.abs(one.x - other.x) < (one.width + other.width) / 2 + 2;
    return near && Math.abs(one.y - other.y) < 20;
}

// ---- walking -----------------------------------------------------------------------------------------

function walk(event, nodes) {
    const from = nodes.find((node) => node.element === event.target);
    const way = ARROWS[event.key];
    if (!from || event.altKey || event.ctrlKey || event.metaKey || (!way && event.key !== "Home")) return;
    event.preventDefault();
    const next = way ? nearest(nodes, from, way) : nodes[0];
    if (next) stop_at(nodes, next).focus();
}

function nearest(nodes, from, [across, along]) {
    const cost = ({ x, y }) => {
        const [ahead, aside] = across ? [(x - from.x) * across, y - from.y] : [(y - from.y) * along, x - from.x];
        return ahead > 1 ? ahead + 2 * Math.abs(aside) : Infinity;
    };
    const [best] = nodes.filter((node) => cost(node) < Infinity).sort((one, other) => cost(one) - cost(other));
    return best;
}

function stop_at(nodes, chosen) {
    nodes.forEach((node) => node.element.setAttribute("tabindex", node === chosen ? 0 : -1));
    return chosen.element;
}

// ---- the side ----------------------------------------------------------------------------------------

let turn = 0; // of the entity that was chosen last: the answer for another one comes too late

// Show an entity at the side; true once it is there.
async function choose(link) {
    const own = (turn += 1);
    const address = link.href.baseVal ?? link.href;
    const answer = await fetch(address, { headers: { "HX-Current-URL": location.href } }).catch(() => null);
    const side = answer?.ok && !answer.redirected ? (await read(answer)).getElementById("entity") : null;
    if (own !== turn) return false;
    if (!side) {
        location.assign(address);
        return false;
    }
    history.replaceState(null, "", address);
    const place = document.getElementById("entity");
    place.replaceChildren(...side.childNodes);
    htmx.process(place);
    drawing.querySelector("[aria-current]")?.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    document.getElementById("graph-chosen").textContent = place.querySelector("h2").textContent;
    return true;
}

async function show_around(node) {
    if (await choose(node.element)) document.querySelector("#entity [data-middle]")?.click();
}

function is_plain(event) {
    return !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
}

function begin() {
    const graph = load();
    const width = region.clientWidth;
    if (width >= MIN_WIDTH) {
        measure(graph.nodes);
        settle(graph, width);
        draw(graph, width);
    }
    const at = (event) => graph.nodes.find((node) => node.element === event.target.closest?.(".node"));
    const chosen = () => graph.nodes.find((node) => node.element.getAttribute("aria-current"));
    stop_at(graph.nodes, chosen() ?? graph.nodes[0]);
    light(graph, chosen());
    drawing.addEventListener("pointerover", (event) => light(graph, at(event) ?? chosen()));
    drawing.addEventListener("pointerleave", () => light(graph, chosen()));
    drawing.addEventListener("focusin", (event) => light(graph, at(event)));
    drawing.addEventListener("focusout", () => light(graph, chosen()));
    drawing.addEventListener("keydown", (event) => walk(event, graph.nodes));
    drawing.addEventListener("click", (event) => {
        const node = at(event);
        if (!node || !is_plain(event)) return;
        event.preventDefault();
        stop_at(graph.nodes, node);
        choose(node.element);
    });
    drawing.addEventListener("dblclick", (event) => at(event) && show_around(at(event)));
}

if (drawing) begin();
