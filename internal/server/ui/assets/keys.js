// What a terminal sends for keys.
const NAMED = {
  Enter: '\r', Backspace: '\x7f', Tab: '\t', Escape: '\x1b', Delete: '\x1b[3~', Insert: '\x1b[2~', PageUp: '\x1b[5~', PageDown: '\x1b[6~',
  F1: '\x1bOP', F2: '\x1bOQ', F3: '\x1bOR', F4: '\x1bOS', F5: '\x1b[15~', F6: '\x1b[17~', F7: '\x1b[18~', F8: '\x1b[19~', F9: '\x1b[20~', F10: '\x1b[21~',
};
const CURSOR = { ArrowUp: 'A', ArrowDown: 'B', ArrowRight: 'C', ArrowLeft: 'D', End: 'F', Home: 'H' };

// code is what a key event sends; undefined if it is left to the browser, as characters are. application is the mode of the
// cursor keys.
export function code(e, application) {
  if (e.isComposing) return undefined;
  if (CURSOR[e.key]) {
    const held = 1 + (e.shiftKey ? 1 : 0) + (e.altKey ? 2 : 0) + (e.ctrlKey ? 4 : 0);
    if (held > 1) return `\x1b[1;${held}${CURSOR[e.key]}`;
    return `\x1b${application ? 'O' : '['}${CURSOR[e.key]}`;
  }
  if (NAMED[e.key]) return (e.altKey ? '\x1b' : '') + NAMED[e.key];
  if (e.key.length !== 1) return undefined;
  if (e.ctrlKey && !e.altKey) {
    const point = e.key.toUpperCase().charCodeAt(0);
    if (e.key === ' ') return '\0';
    return point >= 64 && point < 96 ? String.fromCharCode(point - 64) : undefined;
  }
  return e.altKey && !e.ctrlKey ? `\x1b${e.key}` : undefined;
}
