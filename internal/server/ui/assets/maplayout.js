// Places for the nodes of a map: in layers from left to right, so that edges lead to the right, with connected nodes
// beside each other.
export const WIDTH = 192; // of a node
export const HEIGHT = 48;
const LAYER = WIDTH + 76;
const GAP = 16; // between nodes of a layer
const THREAD = 6; // height of an edge where it crosses a layer
const BETWEEN = 44; // between parts that are not connected
const SWEEPS = 8;

// layout returns {at: Map of id -> {x, y}, via: Map of "from\nto" -> [{x, y}], width, height} for nodes {id} and edges {from, to}
// of ids. via has the places where an edge enters and leaves the layers that it crosses.
export function layout(nodes, edges) {
  const { out, into } = neighbours(nodes, edges);
  const order = topological(nodes, out, into);
  const layer = layers(order, out, into);
  const threads = thread(order, layer, out, into);
  const parts = [];
  const alone = [];
  for (const ids of components(order, out, into)) {
    if (ids.length > 1) parts.push(place(ids, layer, out, into)); else alone.push(ids[0]);
  }
  const widest = Math.max(3 * LAYER, ...parts.map((p) => p.width));
  if (alone.length) parts.push(grid(alone, Math.max(1, Math.floor((widest + GAP) / (WIDTH + GAP)))));
  const whole = shelves(parts, widest);
  const via = new Map();
  for (const [edge, ids] of threads) {
    via.set(edge, ids.flatMap((id) => {
      const { x, y } = whole.at.get(id);
      whole.at.delete(id);
      return [{ x, y: y + THREAD / 2 }, { x: x + WIDTH, y: y + THREAD / 2 }];
    }));
  }
  return { ...whole, via };
}

const isThread = (id) => typeof id === 'symbol';
const tall = (id) => (isThread(id) ? THREAD : HEIGHT);

// thread puts nodes into the layers that edges cross, so that no other node lies on these. It returns them by edge.
function thread(order, layer, out, into) {
  const threads = new Map();
  for (const from of [...order]) {
    out.set(from, out.get(from).map((to) => {
      const ids = [];
      for (let i = layer.get(from) + 1; i < layer.get(to); i++) ids.push(Symbol('thread'));
      if (!ids.length) return to;
      threads.set(`${from}\n${to}`, ids);
      ids.forEach((id, i) => {
        layer.set(id, layer.get(from) + 1 + i);
        into.set(id, [ids[i - 1] ?? from]);
        out.set(id, [ids[i + 1] ?? to]);
      });
      order.push(...ids);
      into.set(to, into.get(to).map((id) => (id === from ? ids.at(-1) : id)));
      return ids[0];
    }));
  }
  return threads;
}

// neighbours are the ids that each node has edges to and from, without the edges that close a circle.
function neighbours(nodes, edges) {
  const all = new Map(nodes.map((n) => [n.id, new Set()]));
  for (const e of edges) if (e.from !== e.to && all.has(e.from) && all.has(e.to)) all.get(e.from).add(e.to);
  const out = new Map(nodes.map((n) => [n.id, []]));
  const into = new Map(nodes.map((n) => [n.id, []]));
  const state = new Map(); // 1: on the path, 2: done
  for (const { id } of nodes) {
    if (state.has(id)) continue;
    const path = [[id, all.get(id).values()]];
    state.set(id, 1);
    while (path.length) {
      const [from, rest] = path[path.length - 1];
      const { value: to, done } = rest.next();
      if (done) {
        state.set(from, 2);
        path.pop();
      } else if (state.get(to) !== 1) {
        out.get(from).push(to);
        into.get(to).push(from);
        if (!state.has(to)) {
          state.set(to, 1);
          path.push([to, all.get(to).values()]);
        }
      }
    }
  }
  return { out, into };
}

function topological(nodes, out, into) {
  const waits = new Map(nodes.map((n) => [n.id, into.get(n.id).length]));
  const order = nodes.map((n) => n.id).filter((id) => !waits.get(id));
  for (let i = 0; i < order.length; i++) {
    for (const to of out.get(order[i])) {
      waits.set(to, waits.get(to) - 1);
      if (!waits.get(to)) order.push(to);
    }
  }
  return order;
}

// layers puts each node to the right of all that lead to it, and as close as possible to those that it leads to. Nodes that lead
// nowhere follow: they do not hold others back.
function layers(order, out, into) {
  const layer = new Map(order.map((id) => [id, 0]));
  const right = (id) => Math.max(layer.get(id), ...into.get(id).map((from) => layer.get(from) + 1));
  for (const id of order) layer.set(id, right(id));
  for (const id of [...order].reverse()) {
    const to = out.get(id);
    const on = to.filter((t) => out.get(t).length);
    if (to.length) layer.set(id, Math.max(layer.get(id), (on.length ? Math.min(...on.map((t) => layer.get(t))) : Math.max(...to.map((t) => layer.get(t)))) - 1));
  }
  for (const id of order) layer.set(id, right(id));
  return layer;
}

function components(ids, out, into) {
  const seen = new Set();
  const all = [];
  for (const id of ids) {
    if (seen.has(id)) continue;
    const part = [id];
    seen.add(id);
    for (let i = 0; i < part.length; i++) {
      for (const other of [...out.get(part[i]), ...into.get(part[i])]) {
        if (!seen.has(other)) {
          seen.add(other);
          part.push(other);
        }
      }
    }
    all.push(part);
  }
  return all.sort((a, b) => b.length - a.length);
}

// place places the nodes of one component.
function place(ids, layer, out, into) {
  const first = Math.min(...ids.map((id) => layer.get(id)));
  const columns = [];
  for (const id of ids) (columns[layer.get(id) - first] ??= []).push(id);
  for (let i = 0; i < columns.length; i++) columns[i] ??= [];
  const y = new Map(); // the middle of each
  const stack = (column) => offsets(column).forEach((v, i) => y.set(column[i], v));
  columns.forEach(stack);
  const mean = (list) => list.reduce((sum, id) => sum + y.get(id), 0) / list.length;
  const sweep = (each) => {
    for (let n = 0; n < SWEEPS; n++) {
      for (let i = 0; i < columns.length; i++) {
        const column = columns[n % 2 ? columns.length - 1 - i : i];
        each(column, n % 2 ? out : into);
      }
    }
  };
  sweep((column, side) => { // the order within the columns, by the middle of the neighbours on a side
    const want = new Map(column.map((id) => [id, side.get(id).length ? mean(side.get(id)) : y.get(id)]));
    column.sort((a, b) => want.get(a) - want.get(b));
    stack(column);
  });
  sweep((column) => { // the distances, by all neighbours
    const want = column.map((id) => {
      const near = [...out.get(id), ...into.get(id)];
      return near.length ? mean(near) : y.get(id);
    });
    spread(want, offsets(column)).forEach((v, i) => y.set(column[i], v));
  });
  const upper = (id) => y.get(id) - tall(id) / 2;
  const top = Math.min(...ids.map(upper));
  const at = new Map(ids.map((id) => [id, { x: (layer.get(id) - first) * LAYER, y: Math.round(upper(id) - top) }]));
  return { at, width: columns.length * LAYER - LAYER + WIDTH, height: Math.max(...ids.map((id) => at.get(id).y + tall(id))) };
}

// offsets are the middles of the nodes of a column that are as close together as possible.
function offsets(column) {
  let y = 0;
  return column.map((id, i) => {
    y += i ? (tall(column[i - 1]) + tall(id)) / 2 + GAP : 0;
    return y;
  });
}

// spread returns the places closest to the wanted ones that are in the same order, and as far from each other as the offsets.
export function spread(want, offset) {
  const blocks = []; // of nodes that are as close as possible: {sum of the wanted places of the first, count}
  want.forEach((v, i) => {
    let block = { sum: v - offset[i], count: 1 };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].count > block.sum / block.count) {
      const last = blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  });
  return blocks.flatMap((b) => Array(b.count).fill(b.sum / b.count)).map((v, i) => v + offset[i]);
}

function grid(ids, across) {
  const at = new Map(ids.map((id, i) => [id, { x: (i % across) * (WIDTH + GAP), y: Math.floor(i / across) * (HEIGHT + GAP) }]));
  return { at, width: Math.min(ids.length, across) * (WIDTH + GAP) - GAP, height: Math.ceil(ids.length / across) * (HEIGHT + GAP) - GAP };
}

// shelves puts the parts side by side while there is room, and then below each other.
function shelves(parts, widest) {
  const at = new Map();
  let [x, y, tall, width] = [0, 0, 0, 0];
  for (const p of parts) {
    if (x && x + p.width > widest) {
      [x, y] = [0, y + tall + BETWEEN];
      tall = 0;
    }
    for (const [id, place] of p.at) at.set(id, { x: x + place.x, y: y + place.y });
    width = Math.max(width, x + p.width);
    tall = Math.max(tall, p.height);
    x += p.width + BETWEEN;
  }
  return { at, width, height: y + tall };
}
