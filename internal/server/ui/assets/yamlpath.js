// Where the fields of an object are in its YAML, to show the server's errors beside them.

// steps divides a field of a Status, such as spec.containers[0].image or metadata.annotations[a.b/c], into its steps.
function steps(field) {
  const out = [];
  for (const [, name, inner] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) out.push(name ?? (/^\d+$/.test(inner) ? Number(inner) : inner.replace(/^"|"$/g, '')));
  return out;
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{},&*!|>%@`-][^:]*?|-[^\s:][^:]*?)\s*:(\s|$)/;
const unquoted = (key) => (/^["']/.test(key) ? key.slice(1, -1) : key);

// paths lists the steps to what begins in each line of a text in block style: [line, steps].
function paths(text) {
  const out = [];
  let frames = []; // {column, list, step}
  let block = -1; // the indentation that a block of text is deeper than
  text.split('\n').forEach((line, n) => {
    let column = /^ */.exec(line)[0].length;
    let rest = line.slice(column);
    if (!rest || rest.startsWith('#') || (block >= 0 && column > block)) return;
    block = -1;
    const start = column;
    while (/^-(\s|$)/.test(rest)) {
      const item = frames.find((f) => f.list && f.column === column);
      if (item) {
        item.step++;
        frames = frames.slice(0, frames.indexOf(item) + 1);
      } else frames = [...frames.filter((f) => f.column <= column), { column, list: true, step: 0 }];
      const space = /^-\s*/.exec(rest)[0].length;
      column += space;
      rest = rest.slice(space);
    }
    const key = KEY.exec(rest);
    if (key) {
      frames = frames.filter((f) => f.column < column);
      frames.push({ column, list: false, step: unquoted(key[1]) });
    }
    out.push([n, frames.map((f) => f.step)]);
    if (/(^|[\s:])[|>][+-]?\d?\s*$/.test(rest)) block = key ? column : start;
  });
  return out;
}

// lineOf is the line of a field or of the nearest field around it, -1 without one.
export function lineOf(text, field) {
  const want = steps(field);
  let best = -1;
  let most = 0;
  for (const [line, found] of paths(text)) {
    let n = 0;
    while (n < want.length && n < found.length && want[n] === found[n]) n++;
    if ((n === found.length || n === want.length) && n > most) {
      most = n;
      best = line;
    }
  }
  return best;
}

// notes are the places in a text that an error is about: {line, field, text}; line is -1 if it has none. err.line is the
// index of a line that was added to the text before it was sent.
export function notes(text, err) {
  const message = err.message.replace(/ \([0-9a-f]+\)$/s, ''); // the text in hexadecimal
  if (err.causes?.some((c) => c.field)) return err.causes.map((c) => ({ line: c.field ? lineOf(text, c.field) : -1, field: c.field, text: c.message }));
  const out = [];
  for (const [, text_, field] of message.matchAll(/((?:unknown|duplicate) field) "([^"]+)"/g)) out.push({ line: lineOf(text, field), field, text: text_ });
  for (const [, number, what] of message.matchAll(/line (\d+): (.+?)(?=, (?:unknown|duplicate) field|\n|$)/g)) {
    const line = Number(number) - 1;
    out.push({ line: err.line !== undefined && line > err.line ? line - 1 : line, text: what });
  }
  return out;
}
