// Drawing on canvases.

// context is the empty drawing of a canvas of a size in CSS pixels.
export function context(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const ctx = canvas.getContext('2d');
  ctx.setTransform(scale, 0, 0, scale, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return ctx;
}

// onTheme calls draw when the colours of the page have changed. It returns a function that ends this.
export function onTheme(draw) {
  const media = matchMedia('(prefers-color-scheme: dark)');
  media.addEventListener('change', draw);
  const root = new MutationObserver(draw);
  root.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    media.removeEventListener('change', draw);
    root.disconnect();
  };
}
