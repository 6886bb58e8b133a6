package browser

import (
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// modules tests the parts of the page that do not draw, on made-up events. Each script returns the claims that are
// false.
func (b *fixture) modules(t *testing.T) {
	for name, script := range map[string]string{
		"fold": `
			const { Shapes, rows, isGroup } = await load('fold.js');
			const tree = plant(), show = (o = {}) => rows(tree, { closed: new Set(), open: new Set(), folding: true, ...o });
			new Shapes().mark(tree);
			const seen = show();
			claim(seen.length === 5, 'the root, its effect, one group and the two different events are shown: ' + seen.length);
			const g = seen.find(isGroup);
			claim(g.members.length === 5 && g.events === 10, 'five equal subtrees of two events are one row');
			claim(g.took.min === 20 && g.took.median === 22 && g.took.max === 24, 'it has their durations: ' + JSON.stringify(g.took));
			claim(g.chain.map((n) => n.verb + n.subresource).join() === 'create,createbinding', 'it names their events');
			claim(show({ open: new Set([g.key]) }).length === 5 + 5 * 2, 'an open group shows its members');
			claim(show({ folding: false }).length === tree.nodes.length, 'without folding all are shown');
			claim(show({ closed: new Set([2]) }).length === 2, 'a closed event hides its effects');`,
		"critical path": `
			const { criticalPath, spent } = await load('critical.js');
			const tree = plant(), path = criticalPath(tree), sum = spent(path);
			claim(path.map((l) => l.node.revision).join() === '1,2,19', 'the chain that ends last: ' + path.map((l) => l.node.revision));
			claim(path.every((l, i) => i === 0 || l.from === path[i - 1].to), 'it has no gap');
			claim(Math.abs(Object.values(sum).reduce((a, b) => a + b, 0) - tree.total) < 1e-6, 'its parts are the whole time: ' + JSON.stringify(sum));
			claim(sum.queue === 6 && sum.reconcile === 26, 'queue and reconcile are told apart: ' + JSON.stringify(sum));`,
		"delay and replay": `
			const { duration, outcome, isHeartbeat } = await load('life.js');
			const { brief, Tree } = await load('forest.js'), { criticalPath, spent } = await load('critical.js');
			const ms = 1e6, life = (more) => ({ revision: 1, began: '2026-01-01T00:00:00Z', hops: [{ hop: 'cached', at: ms }], ...more });
			claim(duration(life({ deliveries: [{ framed: 20001 * ms, flushed: 20002 * ms, replayed: 20000 * ms }] })) === 2 * ms, 'a replay is no latency');
			const put = life({ works: [{ number: 7, controller: 'c', queued: 2 * ms, delayed: 5000 * ms, begun: 5003 * ms, ended: 5004 * ms, writes: [2] }] });
			claim(duration(put) === 4 * ms, 'a delay that a controller wants is no latency');
			const effect = { revision: 2, causes: [1], work: 7, began: '2026-01-01T00:00:05.004Z', hops: [{ hop: 'cached', at: ms }] };
			const sum = spent(criticalPath(new Tree(1, [put, effect].map(brief))));
			claim(Math.abs(sum.delay - 5000) < 1e-3 && Math.abs(sum.queue - 1) < 1e-3, 'the critical path names the delay: ' + JSON.stringify(sum));
			claim(outcome([{ error: 'x', conflict: true }]) === 'conflict' && outcome([{ error: 'x' }, { error: 'y', conflict: true }]) === 'failed', 'a conflict is no failure');
			claim(isHeartbeat({ resource: 'nodes', subresource: 'status', user: 'system:node:a' }) && !isHeartbeat({ resource: 'nodes', user: 'system:node:a' }), 'heartbeats are known');`,
		"statistics": `
			const { table, summary } = await load('stats.js');
			const tree = plant(), of = (by, name) => table(tree.nodes, by).find((r) => r.name === name);
			claim(of('kind', 'pods').count === 12 && of('kind', 'pods').total === 12, 'events are counted by kind');
			claim(of('verb', 'create binding').count === 6, 'subresources are verbs of their own');
			claim(of('controller', 'replicaset').count === 1 && of('controller', 'replicaset').conflicts === 1, 'a reconcile of two events is counted once');
			claim(summary([]).max === 0 && summary([3, 1, 2]).median === 2 && summary([3, 1, 2]).total === 6, 'summaries');`,
		"align": `
			const { align, change } = await load('align.js');
			const lines = align(plant(5), plant(8)), pods = lines.find((l) => l.sample.resource === 'pods');
			claim(lines.length === 5, 'equal effects are one line: ' + lines.length);
			claim(pods.sides[0].count === 6 && pods.sides[1].count === 9, 'a line has both numbers');
			const other = align(plant(5), plant(5, 'nodes'));
			claim(other.filter((l) => !l.sides[0]).length === 3 && other.filter((l) => !l.sides[1]).length === 3, 'effects of one tree only are lines, too');
			claim(change(10, 15) === 0.5 && change(0, 1) === undefined, 'changes');`,
		"until": `
			const { parsePath, find, textOf } = await load('jsonpath.js'), { parseUntil } = await load('until.js'), { milliseconds } = await load('goduration.js');
			const o = { metadata: { generation: 2, annotations: { 'a.b/c': 'x' } }, spec: { ports: [{ port: 80 }, { port: 81 }], none: null },
				status: { succeeded: 3, conditions: [{ type: 'Ready', status: 'False' }, { type: 'Old', status: 'True', observedGeneration: 1 }] } };
			for (const [path, want] of [['{.status.succeeded}', '3'], ['{$.spec.ports[1].port}', '81'], ['{.spec.ports[*].port}', '80,81'], ['{.spec.ports[-1].port}', '81'],
				["{.metadata.annotations['a.b/c']}", 'x'], ['{.metadata.annotations.a\\.b/c}', 'x'], ['{.status.missing.deeper}', ''], ['{.spec.none}', ''], ['{.spec.ports[0]}', '{"port":80}']]) {
				claim(find(parsePath(path), o).map(textOf).join() === want, path + ' is ' + find(parsePath(path), o).map(textOf).join());
			}
			for (const path of ['.status', '{}', '{.items[?(@.a==1)]}', '{..name}', '{.a', '{range .items[*]}']) claim(parsePath(path) === undefined, path + ' is refused');
			for (const [text, now, never] of [['create', true, false], ['delete', false, true], ['condition=ready=false', true, false], ['condition=Ready', false, false], ['condition=Old', false, false],
				['jsonpath={.status.succeeded}=3', true, false], ['jsonpath={.status.succeeded}=4', false, false], ['jsonpath={.spec.ports}', true, false], ['jsonpath={.spec.none}', false, false]]) {
				claim(parseUntil(text)(o) === now && parseUntil(text)(undefined) === never, text);
			}
			for (const text of ['', 'exists', 'condition=', 'condition==True', 'jsonpath=', 'jsonpath={.a}=', 'jsonpath=.a']) claim(parseUntil(text) === undefined, text + ' is no condition');
			for (const [text, ms] of [['1h0m0s', 3600e3], ['1.5s', 1500], ['24h', 864e5], ['500ms', 500], ['1h30m', 5400e3], ['1ns', 1e-6]]) claim(milliseconds(text) === ms, text + ' is ' + milliseconds(text));
			for (const text of ['', '10', 'm', '-5m', '1d', '1h ', 'soon']) claim(Number.isNaN(milliseconds(text)), text + ' is no duration');`,
		"axis": `
			const { linear, logarithmic, clockTicks, zoom, pan, whole, isWhole } = await load('axis.js');
			claim(linear(0, 100, 5).join() === '0,20,40,60,80,100' && linear(3, 3, 5).length === 0, 'linear: ' + linear(0, 100, 5));
			claim(logarithmic(1e3, 1e7).join() === '1000,10000,100000,1000000,10000000', 'logarithmic: ' + logarithmic(1e3, 1e7));
			claim(clockTicks(0, 60e3, 6).step === 10e3, 'times of day');
			const near = zoom(whole(100), 100, 50, 0.5);
			claim(near.from === 25 && near.to === 75, 'zoom: ' + JSON.stringify(near));
			claim(pan(near, 100, 9).to === 100 && pan(near, 100, -9).from === 0, 'a window does not leave the whole');
			claim(isWhole(zoom(near, 100, 10, 99), 100) && zoom(near, 100, 50, 0).to > zoom(near, 100, 50, 0).from, 'zoom has limits');`,
		"filter": `
			const { EMPTY, matcher, parseDuration, sorted } = await load('filter.js');
			const event = (more) => ({ revision: 1, root: 1, cause: 0, effects: 0, text: 'pods web', resource: 'pods', namespace: 'a', user: 'u', verb: 'update', subresource: 'status', controllers: ['c'], outcome: '', waiting: 0, began: 100, took: 5e6, tree: { took: 9e9, outcome: 'failed', waiting: 0 }, ...more });
			const passes = (f, e) => matcher({ ...EMPTY, ...f })(event(e));
			claim(parseDuration('1.5 s') === 1.5e9 && parseDuration('20') === 20e6 && Number.isNaN(parseDuration('soon')), 'durations');
			for (const [f, yes, no] of [
				[{ user: 'u' }, {}, { user: 'v' }], [{ verb: 'update' }, {}, { verb: 'create' }], [{ verb: 'update status' }, {}, { subresource: '' }],
				[{ controller: 'c' }, {}, { controllers: [] }], [{ min: '5ms' }, {}, { took: 4e6 }], [{ max: '5ms' }, {}, { took: 6e6 }],
				[{ from: '100', to: '200' }, {}, { began: 99 }], [{ outcome: 'failed' }, { outcome: 'failed' }, { outcome: 'conflict' }],
				[{ outcome: 'trouble' }, { outcome: 'conflict' }, {}], [{ text: 'web -nodes' }, {}, { text: 'nodes web' }],
				[{ show: 'trees', min: '1s', outcome: 'failed' }, { effects: 1 }, { effects: 1, cause: 7 }], [{}, {}, { heartbeat: true }],
			]) {
				claim(passes(f, yes), JSON.stringify(f) + ' keeps ' + JSON.stringify(yes));
				claim(!passes(f, no), JSON.stringify(f) + ' drops ' + JSON.stringify(no));
			}
			claim(passes({ heartbeats: '1' }, { heartbeat: true }), 'heartbeats are shown on request');
			const order = (sort) => sorted([event({ revision: 1, took: 3 }), event({ revision: 2, took: 1, effects: 9 })], { ...EMPTY, sort }).map((e) => e.revision).join();
			claim(order('') === '2,1' && order('-took') === '1,2' && order('took') === '2,1' && order('-effects') === '2,1', 'orders');`,
	} {
		t.Run(name, func(t *testing.T) {
			var wrong []string
			b.do(t, chromedp.Evaluate(`(async () => {
				const wrong = [], claim = (ok, what) => { if (!ok) wrong.push(what); };
				const load = (name) => import('/ui/assets/' + name);
				const { Tree } = await load('forest.js');
				// plant makes a tree: a Deployment's write, its ReplicaSet's, n equal pods with a binding each, a pod without
				// one, and another user's binding, which ends last.
				const plant = (n = 5, resource = 'pods') => {
					const node = (revision, cause, began, took, more) => ({ revision, cause, began, took, own: 1, type: 'MODIFIED', resource, namespace: 'a', name: 'x', verb: 'create', subresource: '', user: 'u', works: [], outcome: '', work: 0, ...more });
					const work = { number: 5, controller: 'replicaset', queued: 4e6, begun: 7e6, ended: 50e6, error: 'conflict', conflict: true };
					const all = [node(1, 0, 1000, 9, { resource: 'deployments.apps', verb: 'patch', works: [work] }), node(2, 1, 1010, 60, { resource: 'replicasets.apps', work: 5, works: [{ ...work }] })];
					for (let i = 0; i <= n; i++) {
						const odd = i === n;
						all.push(node(8 + 2 * i, 2, 1020, 10, { work: 5, type: 'ADDED' }), node(9 + 2 * i, odd ? 2 : 8 + 2 * i, odd ? 1040 : 1030, odd ? 90 : 10 + i, { work: odd ? 5 : 0, subresource: 'binding', user: odd ? 'v' : 'u' }));
					}
					return new Tree(1, all);
				};
				{`+script+`}
				return wrong;
			})()`, &wrong, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			for _, w := range wrong {
				t.Error("not so: ", w)
			}
		})
	}
}
