// Durations as Go writes them: 1h30m, 500ms.

const UNITS = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;

// milliseconds returns NaN for other texts.
export function milliseconds(text) {
  const parts = [...text.matchAll(PART)];
  if (!parts.length || parts.map(([part]) => part).join('') !== text) return NaN;
  return parts.reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit], 0);
}
