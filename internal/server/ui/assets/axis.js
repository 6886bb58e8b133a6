// Axes: round values between two ends, and windows on an axis that are zoomed and moved.

// linear returns about count round values from a to b.
export function linear(a, b, count = 5) {
  const raw = (b - a) / Math.max(1, count);
  if (!(raw > 0)) return [];
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw);
  const out = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b * (1 + 1e-12); i++) out.push(i * step);
  return out;
}

// logarithmic returns round values between a and b, both above 0: powers of ten, and more of them if those are few.
export function logarithmic(a, b) {
  const out = [];
  const factors = Math.log10(b / a) > 2.5 ? [1] : Math.log10(b / a) > 0.9 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  for (let size = 10 ** Math.floor(Math.log10(a)); size <= b; size *= 10) for (const f of factors) if (size * f >= a * 0.999 && size * f <= b * 1.001) out.push(size * f);
  return out;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 14400e3, 86400e3];

// clockTicks returns about count times of day from a to b, in ms, and the step between them.
export function clockTicks(a, b, count = 5) {
  const step = STEPS.find((s) => s >= (b - a) / Math.max(1, count)) || STEPS.at(-1);
  const east = -new Date(a).getTimezoneOffset() * 60e3;
  const out = [];
  for (let at = Math.ceil((a + east) / step) * step - east; at <= b; at += step) out.push(at);
  return { step, ticks: out };
}

// A window is {from, to} within 0 and total.
const MIN_PART = 1e-6;

export const whole = (total) => ({ from: 0, to: total });

export const isWhole = (w, total) => w.from <= 0 && w.to >= total;

// within moves and shrinks a window to fit.
export function within(w, total) {
  const length = Math.min(Math.max(w.to - w.from, total * MIN_PART), total);
  const from = Math.min(Math.max(w.from, 0), total - length);
  return { from, to: from + length };
}

// zoom scales a window around a place in it; a factor below 1 enlarges the content.
export const zoom = (w, total, around, factor) => within({ from: around - (around - w.from) * factor, to: around + (w.to - around) * factor }, total);

// pan moves a window by a part of its length.
export const pan = (w, total, part) => within({ from: w.from + (w.to - w.from) * part, to: w.to + (w.to - w.from) * part }, total);
