// The part of kubectl's JSONPath that names fields: {.status.conditions[0].type}, {.spec.ports[*].port}, {['a.b']}.

const STEP = /\.((?:\\.|[^.[\]{}\\])+)|\['([^']*)'\]|\["([^"]*)"\]|\[(-?\d+|\*)\]/y;

// parsePath returns the steps of an expression in braces, undefined for an expression that is not understood.
export function parsePath(text) {
  const hit = /^\{\$?(.*)\}$/s.exec(text.trim());
  if (!hit?.[1]) return undefined;
  const steps = [];
  for (STEP.lastIndex = 0; STEP.lastIndex < hit[1].length;) {
    const step = STEP.exec(hit[1]);
    if (!step) return undefined;
    const [, field, single, double, index] = step;
    steps.push(index === undefined ? { field: field === undefined ? single ?? double : field.replace(/\\(.)/g, '$1') } : { index });
  }
  return steps;
}

// find returns the values that the steps lead to, without missing ones.
export function find(steps, value) {
  let found = [value];
  for (const { field, index } of steps) {
    found = found.flatMap((v) => {
      if (index === '*') return v && typeof v === 'object' ? Object.values(v) : [];
      if (index !== undefined) return Array.isArray(v) ? [v.at(Number(index))] : [];
      return field === '*' && v && typeof v === 'object' ? Object.values(v) : [v?.[field]];
    }).filter((v) => v !== undefined && v !== null);
  }
  return found;
}

// textOf writes a value as kubectl prints it.
export const textOf = (v) => (typeof v === 'object' ? JSON.stringify(v) : String(v));
