package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"fairlead.dev/storage"
)

// Game configures Model.
type Game struct {
	// Seed and Steps determine the game.
	Seed  uint64
	Steps int
	Open  Open
	// Restart closes s and opens it again; nil if that is not possible. Cursors do not survive it,
	// revisions and history do.
	Restart func(t testing.TB, s storage.Store) storage.Store
	// Remote is as in RunRemote.
	Remote bool
}

// model is the contract in the simplest form there is: a map per revision.
type model struct {
	// states[r] is the state at revision r, events[r] its events.
	states    []map[string]storage.KeyValue
	events    [][]storage.Event
	compacted storage.Revision
	// forgetful: conditions on ranges compare the current keys with the earlier ones.
	forgetful bool
	leases    map[storage.LeaseID]bool
}

func (m *model) rev() storage.Revision { return storage.Revision(len(m.states) - 1) }

func (m *model) commit(t storage.Txn) storage.TxnResult {
	now := m.states[m.rev()]
	res := storage.TxnResult{Succeeded: true, Revision: m.rev()}
	if !m.holds(t.If) {
		res.Succeeded = false
		for _, c := range t.If {
			if c.End != "" {
				res.Current = append(res.Current, nil)
				continue
			}
			res.Current = append(res.Current, lookup(now, c.Key))
		}
		return res
	}
	next, rev := maps.Clone(now), m.rev()+1
	var events []storage.Event
	for _, op := range m.single(t.Then, next) {
		prev := lookup(next, op.Key)
		e := storage.Event{Type: op.Type, Prev: prev, KV: &storage.KeyValue{Key: op.Key, ModRevision: rev}}
		switch {
		case op.Type == storage.Delete && prev == nil: // or deleted twice
			continue
		case op.Type == storage.Delete:
			delete(next, op.Key)
		default:
			e.KV.Value, e.KV.Lease, e.KV.CreateRevision, e.KV.Version = op.Value, op.Lease, rev, 1
			if prev != nil {
				e.KV.CreateRevision, e.KV.Version = prev.CreateRevision, prev.Version+1
			}
			next[op.Key] = *e.KV
		}
		events = append(events, e)
	}
	if len(events) > 0 {
		m.states, m.events = append(m.states, next), append(m.events, events)
		res.Revision, res.Changed = rev, true
	}
	return res
}

func (m *model) holds(conds []storage.Condition) bool {
	now := m.states[m.rev()]
	for _, c := range conds {
		if c.End != "" && m.changed(c) || c.End == "" && now[c.Key].ModRevision != c.ModRevision {
			return false
		}
	}
	return true
}

// changed reports whether a key of a range changed after a revision.
func (m *model) changed(c storage.Condition) bool {
	if m.forgetful {
		then, now := m.states[min(c.ModRevision, m.rev())], m.states[m.rev()]
		differs := func(a, b map[string]storage.KeyValue) bool {
			for key, kv := range a {
				if within(key, c.Key, c.End) && b[key].ModRevision != kv.ModRevision {
					return true
				}
			}
			return false
		}
		return differs(then, now) || differs(now, then)
	}
	for _, events := range m.events[min(int(c.ModRevision)+1, len(m.events)):] {
		for _, e := range events {
			if within(e.KV.Key, c.Key, c.End) {
				return true
			}
		}
	}
	return false
}

// single takes deletions of ranges apart.
func (m *model) single(ops []storage.Op, now map[string]storage.KeyValue) (out []storage.Op) {
	for _, op := range ops {
		if op.End == "" {
			out = append(out, op)
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if within(key, op.Key, op.End) {
				out = append(out, del(key))
			}
		}
	}
	return out
}

// revoke is the transaction that ends a lease.
func (m *model) revoke(id storage.LeaseID) (ops []storage.Op) {
	now := m.states[m.rev()]
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if now[key].Lease == id {
			ops = append(ops, del(key))
		}
	}
	return ops
}

func (m *model) scan(r storage.RangeRequest) (storage.RangeResult, error) {
	at := r.Revision
	switch {
	case at == 0:
		at = m.rev()
	case at > m.rev():
		return storage.RangeResult{}, storage.ErrFutureRevision
	case at < m.compacted:
		return storage.RangeResult{}, storage.ErrCompacted
	}
	res := storage.RangeResult{Revision: at}
	for _, key := range slices.Sorted(maps.Keys(m.states[at])) {
		if !within(key, r.Start, r.End) {
			continue
		}
		res.Count++
		switch {
		case r.CountOnly:
		case r.Limit > 0 && res.Count > r.Limit:
			res.More = true
		default:
			res.KVs = append(res.KVs, lookup(m.states[at], key))
		}
	}
	return res, nil
}

// versions returns the versions of a key below a revision, the newest first.
func (m *model) versions(key string, below storage.Revision) (all []storage.Event) {
	for r := below - 1; r > m.compacted; r-- {
		for _, e := range m.events[r] {
			if e.KV.Key == key {
				all = append(all, e)
			}
		}
	}
	if kv := lookup(m.states[m.compacted], key); kv != nil && kv.ModRevision < below {
		all = append(all, storage.Event{KV: kv})
	}
	return all
}

// seen returns the events that a cursor at a revision has yet to see.
func (m *model) seen(start, end string, after storage.Revision) (events []storage.Event) {
	for r := after + 1; r <= m.rev(); r++ {
		for _, e := range m.events[r] {
			if within(e.KV.Key, start, end) {
				events = append(events, e)
			}
		}
	}
	return events
}

func within(key, start, end string) bool {
	if end == "" {
		return key == start
	}
	return start <= key && (key < end || end == storage.NoEnd)
}

func lookup(state map[string]storage.KeyValue, key string) *storage.KeyValue {
	if kv, ok := state[key]; ok {
		return &kv
	}
	return nil
}

// Model plays g. Every move is a function of the seed, so a failure can be repeated.
func Model(t *testing.T, g Game) {
	p := &player{
		T: t, Game: g, s: g.Open(t), rand: rand.New(rand.NewPCG(g.Seed, 0)),
		m: &model{
			states: make([]map[string]storage.KeyValue, 2), events: make([][]storage.Event, 2),
			leases: map[storage.LeaseID]bool{}, forgetful: g.Remote,
		},
	}
	p.m.states[1] = map[string]storage.KeyValue{}
	defer func() { p.s.Close() }()
	for step := 0; step < g.Steps && !t.Failed(); step++ {
		switch n := p.rand.IntN(100); {
		case n < 46:
			p.commit()
		case n < 50:
			p.lease()
		case n < 66:
			p.scan()
		case n < 70:
			p.versions()
		case n < 76:
			p.watch()
		case n < 94:
			p.next()
		case n < 98:
			p.compact()
		case g.Restart != nil:
			p.restart()
		}
		if t.Failed() {
			t.Logf("seed %d, step %d", g.Seed, step)
		}
	}
}

type player struct {
	*testing.T
	Game
	s       storage.Store
	m       *model
	rand    *rand.Rand
	cursors []*watcher
}

// A watcher is a cursor and its expected position.
type watcher struct {
	cursor     storage.Cursor
	start, end string
	at         storage.Revision
}

func (p *player) key() string { return fmt.Sprintf("/%c/%d", 'a'+p.rand.IntN(3), p.rand.IntN(5)) }

// span is a key, a prefix or a range.
func (p *player) span() (start, end string) {
	switch p.rand.IntN(4) {
	case 0:
		return p.key(), ""
	case 1:
		if p.rand.IntN(2) == 0 {
			return p.key(), storage.NoEnd
		}
		return "/", "0"
	case 2:
		start = p.key()[:3]
		return start, storage.PrefixEnd(start)
	}
	return p.key(), p.key()
}

func (p *player) commit() {
	var txn storage.Txn
	for range p.rand.IntN(3) {
		key := p.key()
		rev := p.m.states[p.m.rev()][key].ModRevision
		if p.rand.IntN(4) == 0 {
			rev = storage.Revision(p.rand.IntN(int(p.m.rev()) + 2))
		}
		c := storage.Condition{Key: key, ModRevision: rev}
		if p.rand.IntN(4) == 0 {
			c.Key, c.End = p.span()
			c.ModRevision = max(1, p.m.compacted, p.m.rev()-storage.Revision(p.rand.IntN(3)))
			if c.End == "" {
				c.ModRevision = rev
			}
		}
		txn.If = append(txn.If, c)
	}
	used := map[string]bool{}
	for range p.rand.IntN(4) {
		key := p.key()
		if used[key] {
			continue
		}
		used[key] = true
		if p.rand.IntN(3) == 0 {
			txn.Then = append(txn.Then, del(key))
		} else {
			op := put(key, fmt.Sprint(p.rand.Int()))
			op.Lease = storage.LeaseID(p.rand.IntN(4))
			txn.Then = append(txn.Then, op)
		}
	}
	if p.rand.IntN(10) == 0 {
		start, end := p.span()
		txn.Then = slices.DeleteFunc(txn.Then, func(op storage.Op) bool {
			return op.Type == storage.Put && within(op.Key, start, end)
		})
		txn.Then = append(txn.Then, storage.Op{Type: storage.Delete, Key: start, End: end})
	}
	got, err := p.s.Commit(ctx(p), txn)
	if p.m.holds(txn.If) {
		for _, op := range txn.Then {
			if op.Lease != 0 && !p.m.leases[op.Lease] {
				wantErr(p, fmt.Sprintf("Commit with lease %d", op.Lease), err, storage.ErrLeaseNotFound)
				return
			}
		}
	}
	want := p.m.commit(txn)
	if err != nil || got.Succeeded != want.Succeeded || got.Revision != want.Revision || got.Changed != want.Changed ||
		!slices.EqualFunc(got.Current, want.Current, sameKV) {
		p.Errorf("Commit(%+v): %+v, %v; want %+v", txn, got, err, want)
	}
}

// lease makes or ends a lease, or looks at one.
func (p *player) lease() {
	id := storage.LeaseID(1 + p.rand.IntN(3))
	there := p.m.leases[id]
	if p.rand.IntN(2) == 0 {
		_, err := p.s.Grant(ctx(p), id, time.Hour)
		if there {
			wantErr(p, fmt.Sprintf("Grant(%d)", id), err, storage.ErrLeaseExists)
		} else if err != nil {
			p.Errorf("Grant(%d): %v", id, err)
		}
		p.m.leases[id] = true
		return
	}
	l, err := p.s.Lease(ctx(p), id)
	if !there {
		wantErr(p, fmt.Sprintf("Lease(%d)", id), err, storage.ErrLeaseNotFound)
		wantErr(p, fmt.Sprintf("Revoke(%d)", id), p.s.Revoke(ctx(p), id), storage.ErrLeaseNotFound)
		return
	}
	ops := p.m.revoke(id)
	if err != nil || !slices.EqualFunc(l.Keys, ops, func(key string, op storage.Op) bool { return key == op.Key }) {
		p.Errorf("Lease(%d): %+v, %v; want the keys of %+v", id, l, err, ops)
	}
	if p.rand.IntN(3) > 0 {
		return
	}
	if err := p.s.Revoke(ctx(p), id); err != nil {
		p.Errorf("Revoke(%d): %v", id, err)
	}
	p.m.commit(storage.Txn{Then: ops})
	delete(p.m.leases, id)
}

func (p *player) scan() {
	r := storage.RangeRequest{Limit: p.rand.Int64N(6), CountOnly: p.rand.IntN(6) == 0}
	r.Start, r.End = p.span()
	if p.rand.IntN(3) > 0 {
		r.Revision = storage.Revision(p.rand.IntN(int(p.m.rev()) + 2))
	}
	want, wantErr := p.m.scan(r)
	got, err := p.s.Range(ctx(p), r)
	if !errors.Is(err, wantErr) || got.Revision != want.Revision || got.Count != want.Count || got.More != want.More ||
		!slices.EqualFunc(got.KVs, want.KVs, sameKV) {
		p.Errorf("Range(%+v): %+v, %v; want %+v, %v", r, got, err, want, wantErr)
	}
}

// versions reads the versions of a key page by page.
func (p *player) versions() {
	r := storage.VersionsRequest{Key: p.key(), Limit: 1 + p.rand.IntN(6)}
	below := p.m.rev() + 1
	if p.rand.IntN(3) > 0 {
		r.Before = 1 + storage.Revision(p.rand.IntN(int(p.m.rev())+2))
		below = min(below, r.Before)
	}
	want := p.m.versions(r.Key, below)
	for {
		got, err := p.s.Versions(ctx(p), r)
		n := min(r.Limit, len(want))
		if err != nil || got.Revision != p.m.rev() || got.Compacted != p.m.compacted || !got.More && len(want) > n ||
			!slices.EqualFunc(got.Versions, want[:n], func(v storage.Version, e storage.Event) bool { return sameEvent(v.Event, e) }) {
			p.Errorf("Versions(%+v): %+v, %v; want %s", r, got, err, story(want[:n]))
		}
		if want = want[n:]; !got.More || p.Failed() {
			return
		}
		if n > 0 {
			r.Before = got.Versions[n-1].Revision()
		}
	}
}

func (p *player) watch() {
	after := storage.Revision(p.rand.IntN(int(p.m.rev()) + 3))
	w := &watcher{at: after}
	w.start, w.end = p.span()
	var err error
	w.cursor, err = p.s.Watch(storage.WatchRequest{Start: w.start, End: w.end, After: after, Prev: true})
	if after != 0 && after < p.m.compacted {
		if !errors.Is(err, storage.ErrCompacted) {
			p.Errorf("Watch after %d, compacted %d: %v", after, p.m.compacted, err)
		}
		return
	}
	if err != nil {
		p.Fatalf("Watch after %d: %v", after, err)
	}
	if after == 0 {
		w.at = p.m.rev()
	}
	p.cursors = append(p.cursors, w)
}

func (p *player) next() {
	if len(p.cursors) == 0 {
		return
	}
	i := p.rand.IntN(len(p.cursors))
	w := p.cursors[i]
	want := p.m.seen(w.start, w.end, w.at)
	b, err := p.read(w)
	// Only a cursor that has missed events may fail, and must, unless it was fed before.
	lost := len(want) > 0 && want[0].Revision() <= p.m.compacted
	if err != nil {
		if !errors.Is(err, storage.ErrCompacted) || w.at >= p.m.compacted {
			p.Errorf("Next of [%q, %q) at %d: %v", w.start, w.end, w.at, err)
		}
		p.cursors = slices.Delete(p.cursors, i, i+1)
		return
	}
	if lost && !p.Remote {
		p.Errorf("Next of [%q, %q) at %d, compacted %d: no error, %+v", w.start, w.end, w.at, p.m.compacted, b)
	}
	if b.Progress != max(w.at, p.m.rev()) || !slices.EqualFunc(b.Events, want, sameEvent) {
		p.Errorf("Next of [%q, %q) at %d: progress %d, %s; want %s", w.start, w.end, w.at, b.Progress, story(b.Events), story(want))
	}
	w.at = b.Progress
	if p.rand.IntN(10) == 0 {
		w.cursor.Close()
		p.cursors = slices.Delete(p.cursors, i, i+1)
	}
}

// read reads all events that w has to see by now: one call of Next suffices, unless w is fed over a
// network.
func (p *player) read(w *watcher) (storage.Batch, error) {
	b, err := w.cursor.Next()
	for rev := p.m.rev(); p.Remote && err == nil && b.Progress < rev; {
		w.cursor.Want(rev)
		select {
		case <-w.cursor.Bell():
		case <-ctx(p).Done():
			p.Fatalf("no bell; progress is %d, waiting for %d", b.Progress, rev)
		}
		var more storage.Batch
		more, err = w.cursor.Next()
		b.Events, b.Progress = append(slices.Clip(b.Events), more.Events...), more.Progress
	}
	return b, err
}

func (p *player) compact() {
	r := p.m.compacted + storage.Revision(p.rand.IntN(30)-2)
	err := p.s.Compact(ctx(p), r)
	switch {
	case r > p.m.rev():
		wantErr(p, fmt.Sprintf("Compact(%d) at %d", r, p.m.rev()), err, storage.ErrFutureRevision)
	case r <= p.m.compacted:
		wantErr(p, fmt.Sprintf("Compact(%d) at %d", r, p.m.compacted), err, storage.ErrCompacted)
	case err != nil:
		p.Errorf("Compact(%d): %v", r, err)
	default:
		p.m.compacted = r
	}
}

// restart also checks that the whole kept history is still there.
func (p *player) restart() {
	p.s = p.Restart(p, p.s)
	p.cursors = nil
	if p.s.Revision() != p.m.rev() || p.s.Compacted() != p.m.compacted {
		p.Fatalf("after a restart: revision %d, compacted %d; want %d, %d", p.s.Revision(), p.s.Compacted(), p.m.rev(), p.m.compacted)
	}
	after := max(p.m.compacted, 1)
	got, want := read(p, watchAll(p, p.s, after), p.m.rev()), p.m.seen("/", "0", after)
	if !slices.EqualFunc(got, want, sameEvent) {
		p.Errorf("after a restart, events after %d are %s; want %s", after, story(got), story(want))
	}
}

func sameEvent(a, b storage.Event) bool {
	return a.Type == b.Type && sameKV(a.KV, b.KV) && sameKV(a.Prev, b.Prev)
}
