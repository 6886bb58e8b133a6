// h makes elements without HTML strings: h('div.row', {title: 'x'}, 'text', child).
export function h(spec, ...rest) {
  const [tag, ...classes] = spec.split('.');
  const el = document.createElement(tag || 'div');
  if (classes.length) el.className = classes.join(' ');
  for (const part of rest.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) el.append(part);
    else if (typeof part === 'object') set(el, part);
    else el.append(String(part));
  }
  return el;
}

function set(el, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) el.addEventListener(key.slice(2), value);
    else if (key === 'style') Object.assign(el.style, value); // the Content-Security-Policy forbids style attributes
    else if (key in el && key !== 'list') el[key] = value;
    else el.setAttribute(key, value);
  }
}

// svg makes an SVG element.
export function svg(tag, attributes, ...children) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
  el.append(...children);
  return el;
}
