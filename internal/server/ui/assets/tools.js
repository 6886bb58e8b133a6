// The tools of a test server. The page offers them where the server has them switched on, to users who may use them.
import { h } from './dom.js';
import { json } from './api.js';
import { mayPath } from './access.js';
import { followServer } from './time.js';

// session has the user, and what the server has switched on.
export const session = json('/ui/session').then((s) => {
  if (s.virtualTime) followServer();
  return s;
});

const tools = {
  faults: { title: 'Faults', path: '/debug/faults', has: (s) => s.faults, off: ['This server takes no faults. One that does is started with ', h('code', '--allow-faults'), '.'], forbidden: 'You may not inject faults into this server.' },
  clock: { title: 'Clock', path: '/debug/clock', has: (s) => s.virtualTime, off: ['This server runs in real time. One with a clock that can be advanced is started with ', h('code', '--in-memory --clock=virtual'), '.'], forbidden: 'You may not advance the clock of this server.' },
};

// refusal is the reason why a tool is not offered, or nothing if it is.
export async function refusal(name) {
  const tool = tools[name];
  if (!tool.has(await session)) return tool.off;
  return await mayPath('post', tool.path) ? undefined : tool.forbidden;
}

// offered returns the tools that are, as [name, title].
export async function offered() {
  const refused = await Promise.all(Object.keys(tools).map((name) => refusal(name).catch((err) => err)));
  return Object.entries(tools).filter((_, i) => !refused[i]).map(([name, { title }]) => [name, title]);
}

// toolView is a view of a tool, made by make() once it is clear that the tool is offered. make returns a view.
export function toolView(name, make) {
  const el = h('div.tool');
  let view = null;
  let ended = false;
  refusal(name).then((why) => {
    if (ended) return;
    if (why) el.replaceChildren(h('p.empty', why));
    else {
      view = make();
      el.replaceChildren(view.el);
    }
  }, (err) => el.replaceChildren(h('p.empty.bad', err.message)));
  return {
    el,
    update() {},
    destroy() {
      ended = true;
      view?.destroy();
    },
  };
}
