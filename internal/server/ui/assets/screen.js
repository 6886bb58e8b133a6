// The screen of a terminal: text, colours, and movements of the cursor, as programs for xterm use them.

const SCROLLED = 2000; // lines kept above the screen
const BLANK = { text: ' ', look: '' };

export class Screen {
  constructor(rows, columns) {
    this.rows = rows;
    this.columns = columns;
    this.reset();
  }

  reset() {
    this.above = []; // lines that have been scrolled away
    this.lines = [];
    this.moveTo(0, 0);
    this.saved = [0, 0];
    this.look = { fg: '', bg: '', bold: false, dim: false, underline: false, reverse: false };
    this.top = 0; // the scrolled region
    this.bottom = this.rows - 1;
    this.wrapped = false; // the next character goes to the next line
    this.visible = true;
    this.other = null; // the first screen, while a program uses the second
    this.rest = '';
    this.answers = ''; // what the terminal sends back
    this.fill();
  }

  fill() {
    while (this.lines.length < this.rows) this.lines.push([]);
  }

  resize(rows, columns) {
    this.rows = rows;
    this.columns = columns;
    while (this.lines.length > rows && this.row < this.lines.length - 1) this.lines.pop();
    while (this.lines.length > rows) {
      this.above.push(this.lines.shift());
      this.row--;
    }
    this.fill();
    this.top = 0;
    this.bottom = rows - 1;
    this.moveTo(this.row, this.column);
  }

  moveTo(row, column) {
    this.row = Math.max(0, Math.min(this.rows - 1, row));
    this.column = Math.max(0, Math.min(this.columns - 1, column));
    this.wrapped = false;
  }

  // write takes what a program has written. An escape sequence may continue in the next call.
  write(text) {
    const all = this.rest + text;
    this.rest = '';
    for (let i = 0; i < all.length;) {
      const c = all[i];
      if (c === '\x1b') {
        const n = this.escape(all, i);
        if (!n) {
          this.rest = all.slice(i);
          if (this.rest.length > 4096) this.rest = ''; // of no program
          return;
        }
        i += n;
      } else if (c < ' ' || c === '\x7f') {
        this.control(c);
        i++;
      } else {
        const point = String.fromCodePoint(all.codePointAt(i));
        this.put(point);
        i += point.length;
      }
    }
  }

  control(c) {
    switch (c) {
      case '\n': case '\v': case '\f': this.down(); break;
      case '\r': this.moveTo(this.row, 0); break;
      case '\b': this.moveTo(this.row, this.column - 1); break;
      case '\t': this.moveTo(this.row, (Math.floor(this.column / 8) + 1) * 8); break;
      default:
    }
  }

  put(text) {
    if (this.wrapped) {
      this.column = 0;
      this.down();
    }
    const line = this.lines[this.row];
    while (line.length < this.column) line.push(BLANK);
    line[this.column] = { text, look: this.className() };
    if (this.column === this.columns - 1) this.wrapped = true; else this.column++;
  }

  className() {
    const { fg, bg, bold, dim, underline, reverse } = this.look;
    return [fg && `fg${fg}`, bg && `bg${bg}`, bold && 'bold', dim && 'faint', underline && 'underline', reverse && 'reverse'].filter(Boolean).join(' ');
  }

  down() {
    this.wrapped = false;
    if (this.row === this.bottom) this.scroll(1);
    else if (this.row < this.rows - 1) this.row++;
  }

  up() {
    this.wrapped = false;
    if (this.row === this.top) this.scroll(-1);
    else if (this.row > 0) this.row--;
  }

  // scroll moves the lines of the region up, or down.
  scroll(n, from = this.top) {
    for (let i = 0; i < Math.abs(n) && i < this.rows; i++) {
      if (n < 0) {
        this.lines.splice(this.bottom, 1);
        this.lines.splice(from, 0, []);
        continue;
      }
      const [gone] = this.lines.splice(from, 1);
      this.lines.splice(this.bottom, 0, []);
      if (from === 0 && !this.other && this.above.push(gone) > SCROLLED) this.above.shift();
    }
  }

  // escape runs the escape sequence at i and returns its length, 0 if it is not complete.
  escape(all, i) {
    const next = all[i + 1];
    if (next === undefined) return 0;
    if (next === '[') {
      const hit = /^\x1b\[([<=>?]?)([\d;:]*)([ -/]*)([@-~])/.exec(all.slice(i, i + 256));
      if (hit) {
        if (!hit[3]) this.sequence(hit[1], hit[2].split(/[;:]/).map((n) => (n === '' ? undefined : Number(n))), hit[4]);
        return hit[0].length;
      }
      return /^\x1b\[[0-?]*[ -/]*$/.test(all.slice(i, i + 256)) ? 0 : 2;
    }
    if (next === ']' || next === 'P' || next === '_' || next === '^') { // titles and the like
      const end = /\x07|\x1b\\/.exec(all.slice(i + 2));
      return end ? 2 + end.index + end[0].length : 0;
    }
    if ('()*+#%'.includes(next)) return all[i + 2] === undefined ? 0 : 3;
    const act = { 7: () => this.save(), 8: () => this.restore(), D: () => this.down(), E: () => { this.column = 0; this.down(); }, M: () => this.up(), c: () => this.reset() };
    act[next]?.();
    return 2;
  }

  save() { this.saved = [this.row, this.column]; }

  restore() { this.moveTo(...this.saved); }

  sequence(mark, numbers, final) {
    const n = Math.max(1, numbers[0] ?? 1);
    if (mark === '?') {
      if (final === 'h' || final === 'l') for (const mode of numbers) this.mode(mode, final === 'h');
      return;
    }
    if (mark) return;
    switch (final) {
      case 'A': this.moveTo(this.row - n, this.column); break;
      case 'B': case 'e': this.moveTo(this.row + n, this.column); break;
      case 'C': case 'a': this.moveTo(this.row, this.column + n); break;
      case 'D': this.moveTo(this.row, this.column - n); break;
      case 'E': this.moveTo(this.row + n, 0); break;
      case 'F': this.moveTo(this.row - n, 0); break;
      case 'G': case '`': this.moveTo(this.row, n - 1); break;
      case 'd': this.moveTo(n - 1, this.column); break;
      case 'H': case 'f': this.moveTo(n - 1, Math.max(1, numbers[1] ?? 1) - 1); break;
      case 'J': this.eraseScreen(numbers[0] ?? 0); break;
      case 'K': this.eraseLine(numbers[0] ?? 0); break;
      case 'L': this.scroll(-n, this.row); break;
      case 'M': this.scroll(n, this.row); break;
      case 'P': this.lines[this.row].splice(this.column, n); break;
      case '@': if (this.column < this.lines[this.row].length) this.lines[this.row].splice(this.column, 0, ...Array(n).fill(BLANK)); this.cut(); break;
      case 'X': for (let i = 0; i < n; i++) if (this.column + i < this.lines[this.row].length) this.lines[this.row][this.column + i] = BLANK; break;
      case 'S': this.scroll(n); break;
      case 'T': this.scroll(-n); break;
      case 'm': this.colour(numbers); break;
      case 'n': if (numbers[0] === 6) this.answers += `\x1b[${this.row + 1};${this.column + 1}R`; break;
      case 'c': this.answers += '\x1b[?6c'; break;
      case 'r':
        this.top = Math.min(this.rows - 1, n - 1);
        this.bottom = Math.min(this.rows, numbers[1] || this.rows) - 1;
        this.moveTo(0, 0);
        break;
      case 's': this.save(); break;
      case 'u': this.restore(); break;
      default:
    }
  }

  cut() {
    this.lines[this.row].length = Math.min(this.lines[this.row].length, this.columns);
  }

  mode(mode, on) {
    if (mode === 25) this.visible = on;
    if (mode === 2004) this.bracketed = on; // around what is pasted
    if (mode === 1) this.application = on; // other codes of the cursor keys
    if (mode !== 1049 && mode !== 47 && mode !== 1047) return;
    if (on && !this.other) {
      this.other = { lines: this.lines, row: this.row, column: this.column };
      this.lines = [];
      this.fill();
    } else if (!on && this.other) {
      this.lines = this.other.lines;
      this.moveTo(this.other.row, this.other.column);
      this.other = null;
      this.resize(this.rows, this.columns);
    }
  }

  eraseLine(how) {
    const line = this.lines[this.row];
    if (how === 0) line.length = Math.min(line.length, this.column);
    else if (how === 2) line.length = 0;
    else for (let i = 0; i <= this.column && i < line.length; i++) line[i] = BLANK;
  }

  eraseScreen(how) {
    if (how === 3) this.above = [];
    if (how === 2 || how === 3) this.lines = this.lines.map(() => []);
    else {
      this.eraseLine(how);
      for (let i = how === 0 ? this.row + 1 : 0; how === 0 ? i < this.rows : i < this.row; i++) this.lines[i] = [];
    }
  }

  colour(numbers) {
    const look = this.look;
    for (let i = 0; i < numbers.length; i++) {
      const n = numbers[i] ?? 0;
      if (n === 0) Object.assign(look, { fg: '', bg: '', bold: false, dim: false, underline: false, reverse: false });
      else if (n === 1) look.bold = true;
      else if (n === 2) look.dim = true;
      else if (n === 4) look.underline = true;
      else if (n === 7) look.reverse = true;
      else if (n === 22) look.bold = look.dim = false;
      else if (n === 24) look.underline = false;
      else if (n === 27) look.reverse = false;
      else if (n >= 30 && n <= 37) look.fg = String(n - 30);
      else if (n >= 90 && n <= 97) look.fg = String(n - 82);
      else if (n >= 40 && n <= 47) look.bg = String(n - 40);
      else if (n >= 100 && n <= 107) look.bg = String(n - 92);
      else if (n === 39) look.fg = '';
      else if (n === 49) look.bg = '';
      else if (n === 38 || n === 48) {
        const part = n === 38 ? 'fg' : 'bg';
        if (numbers[i + 1] === 5) look[part] = nearest256(numbers[i += 2] ?? 0);
        else if (numbers[i + 1] === 2) {
          look[part] = nearest(...[2, 3, 4].map((k) => numbers[i + k] ?? 0));
          i += 4;
        }
      }
    }
  }

  // spans divides a line into parts of one look.
  spans(line, cursor = -1) {
    const out = [];
    for (let i = 0; i < Math.max(line.length, cursor + 1); i++) {
      const cell = line[i] || BLANK;
      const look = i === cursor ? `${cell.look} cursor`.trim() : cell.look;
      const last = out[out.length - 1];
      if (last && last.look === look && i !== cursor) last.text += cell.text; else out.push({ text: cell.text, look });
    }
    return out;
  }
}

// nearest is the one of the sixteen colours that is like another.
function nearest(r, g, b) {
  const bright = Math.max(r, g, b) > 200 ? 8 : 0;
  const floor = Math.max(r, g, b) / 2;
  const bits = (r > floor ? 1 : 0) | (g > floor ? 2 : 0) | (b > floor ? 4 : 0);
  if (Math.max(r, g, b) < 40) return '0';
  return String(bits + bright);
}

function nearest256(n) {
  if (n < 16) return String(n);
  if (n >= 232) return nearest(...Array(3).fill((n - 232) * 10 + 8));
  const step = (k) => [0, 95, 135, 175, 215, 255][k];
  return nearest(step(Math.floor((n - 16) / 36)), step(Math.floor((n - 16) / 6) % 6), step((n - 16) % 6));
}
