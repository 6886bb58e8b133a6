// A merge of two changes of one text, by lines.

const MAX = 4e6; // cells of the table of common lines

// blocks lists the common lines of two texts as [from in a, from in b, length], in order.
function blocks(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out = head ? [[0, 0, head]] : [];
  out.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)).map(([i, j, n]) => [i + head, j + head, n]));
  if (tail) out.push([a.length - tail, b.length - tail, tail]);
  return out;
}

// middle is blocks by the longest common subsequence.
function middle(a, b) {
  if (!a.length || !b.length || a.length * b.length > MAX) return [];
  const w = b.length + 1;
  const best = new Uint32Array((a.length + 1) * w);
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) best[i * w + j] = a[i] === b[j] ? best[(i + 1) * w + j + 1] + 1 : Math.max(best[(i + 1) * w + j], best[i * w + j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      const last = out[out.length - 1];
      if (last && last[0] + last[2] === i && last[1] + last[2] === j) last[2]++; else out.push([i, j, 1]);
      i++;
      j++;
    } else if (best[(i + 1) * w + j] >= best[i * w + j + 1]) i++;
    else j++;
  }
  return out;
}

// counterpart maps the lines of a that b has to b's.
function counterpart(a, b) {
  const map = new Map();
  for (const [i, j, n] of blocks(a, b)) for (let k = 0; k < n; k++) map.set(i + k, j + k);
  map.set(a.length, b.length);
  return map;
}

// merge puts the changes from base to ours on theirs. Where both have changed the same lines differently, ours is followed
// by theirs as a comment; conflicts are the indices of the first such lines.
export function merge(base, ours, theirs) {
  const [b, o, t] = [base, ours, theirs].map((text) => text.split('\n'));
  const inOurs = counterpart(b, o);
  const inTheirs = counterpart(b, t);
  const out = [];
  const conflicts = [];
  let [i, j, k] = [0, 0, 0];
  while (i < b.length || j < o.length || k < t.length) {
    if (i < b.length && inOurs.get(i) === j && inTheirs.get(i) === k) {
      out.push(b[i]);
      i++;
      j++;
      k++;
      continue;
    }
    let next = i;
    while (!(inOurs.has(next) && inTheirs.has(next) && inOurs.get(next) >= j && inTheirs.get(next) >= k && (next > i || inOurs.get(next) > j || inTheirs.get(next) > k || next === b.length))) next++;
    const was = b.slice(i, next).join('\n');
    const mine = o.slice(j, inOurs.get(next));
    const other = t.slice(k, inTheirs.get(next));
    if (other.join('\n') === was || mine.join('\n') === other.join('\n')) out.push(...mine);
    else if (mine.join('\n') === was) out.push(...other);
    else {
      conflicts.push(out.length);
      out.push(...mine, ...other.map((l) => `# theirs: ${l}`));
    }
    [i, j, k] = [next, inOurs.get(next), inTheirs.get(next)];
  }
  return { text: out.join('\n'), conflicts };
}
