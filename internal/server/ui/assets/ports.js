// The ports of a pod or service: forwarded by kubectl, or opened in the browser by the API server's proxy.
import { h } from './dom.js';
import { objectPath, post } from './api.js';
import { confirm } from './dialog.js';
import { copyButton } from './copy.js';
import { kubectl, target } from './kubectl.js';

const portsOf = (o, r) => (r.key === 'services' ? (o.spec.ports || []).map((p) => ({ name: p.name, number: p.port, protocol: p.protocol }))
  : [...(o.spec.initContainers || []).filter((c) => c.restartPolicy === 'Always'), ...o.spec.containers].flatMap((c) => (c.ports || []).map((p) => ({ name: p.name || c.name, number: p.containerPort, protocol: p.protocol })))
).filter((p) => (p.protocol || 'TCP') === 'TCP');

// openPort opens an HTTP port in a new tab, whose page has an origin of its own.
async function openPort(r, { namespace, name }, number, failure) {
  const tab = window.open('', '_blank'); // at once, within the click
  try {
    const scheme = [443, 8443].includes(number) ? 'https:' : '';
    const { path } = await (await post('/ui/visits', { path: `${objectPath(r, namespace, '')}${scheme}${name}:${number}/proxy` })).json();
    tab.opener = null;
    tab.location = path;
  } catch (err) {
    tab?.close();
    failure.textContent = err.message;
  }
}

export const ports = {
  name: 'ports',
  title: () => 'Ports…',
  applies: (o, r) => ['pods', 'services'].includes(r.key),
  needs: (o, r, about) => [['get', r, about, 'proxy']],
  async open(o, r, about) {
    const failure = h('p.bad', { role: 'alert' });
    const list = portsOf(o, r);
    const other = h('input', { type: 'number', min: 1, max: 65535, 'aria-label': 'Another port', placeholder: 'port' });
    const row = (number, label) => {
      const command = () => kubectl(about, 'port-forward', target(r, about.name), `${local(number())}:${number()}`);
      const code = h('code', command());
      const update = () => { code.textContent = command(); };
      return { el: h('li', label, code, h('span.choice', copyButton(command), h('button', { type: 'button', onclick: () => number() && openPort(r, about, number(), failure) }, 'Open'))), update };
    };
    const local = (n) => (n && n < 1024 ? n + 8000 : n) || 'PORT';
    const free = row(() => Number(other.value) || 0, other);
    other.addEventListener('input', free.update);
    await confirm({
      title: `Ports of ${target(r, about.name)}`,
      content: [h('p', 'A browser cannot listen on a port: the command forwards one to your machine. Open shows an HTTP port in a new tab, through the API server.'),
        h('ul.ports', { 'aria-label': 'Ports' }, list.map((p) => row(() => p.number, h('b', `${p.name ? `${p.name} ` : ''}${p.number}`)).el), r.key === 'pods' && free.el), failure],
    });
  },
};
