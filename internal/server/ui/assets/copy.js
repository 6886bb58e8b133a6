// A button that copies a text.
import { h } from './dom.js';

export function copyButton(text, title = 'Copy') {
  const button = h('button', {
    type: 'button',
    onclick: async () => {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = title; }, 1500);
    },
  }, title);
  return button;
}
