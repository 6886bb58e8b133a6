package workqueue_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/workqueue"
)

// model is a queue as slowly and plainly as its promises can be written down.
type model struct {
	keys   map[int]*known
	groups map[[2]int]int // priority and group -> when its turn came, for those with ready keys
	turn   int
	closed bool
}

type known struct {
	ready, working  bool
	priority, again int // again is the priority after Done
	taken           int // the priority it was taken at
	seq             int // the order of becoming ready
	failures        int
	waits           bool
	due             time.Time
	duePriority     int
}

func (m *model) key(k int) *known {
	if m.keys[k] == nil {
		m.keys[k] = &known{}
	}
	return m.keys[k]
}

func (m *model) enter(k int, p int) {
	x := m.key(k)
	m.turn++
	x.priority, x.seq = p, m.turn
	if g := [2]int{p, group(k)}; m.groups[g] == 0 {
		m.groups[g] = m.turn
	}
}

// leave forgets the turn of a group that has no ready keys at a priority any more.
func (m *model) leave(k, p int) {
	for o, x := range m.keys {
		if o != k && x.ready && !x.working && x.priority == p && group(o) == group(k) {
			return
		}
	}
	delete(m.groups, [2]int{p, group(k)})
}

func (m *model) add(k, p int) {
	x := m.key(k)
	switch {
	case m.closed:
	case x.working && x.ready:
		x.again = max(x.again, p)
	case x.working:
		x.ready, x.again = true, p
	case !x.ready:
		x.ready = true
		m.enter(k, p)
	case p > x.priority:
		m.leave(k, x.priority)
		m.enter(k, p)
	}
}

// first returns the key that Get must return, or -1.
func (m *model) first() int {
	var all []int
	for k, x := range m.keys {
		if x.ready && !x.working {
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return slices.MinFunc(all, func(a, b int) int {
		x, y := m.keys[a], m.keys[b]
		return cmp.Or(cmp.Compare(y.priority, x.priority),
			cmp.Compare(m.groups[[2]int{x.priority, group(a)}], m.groups[[2]int{y.priority, group(b)}]),
			cmp.Compare(x.seq, y.seq))
	})
}

func (m *model) take(k int) {
	x := m.keys[k]
	x.ready, x.working, x.taken = false, true, x.priority
	g := [2]int{x.priority, group(k)}
	m.turn++
	m.groups[g] = m.turn
	m.leave(k, x.priority)
}

func (m *model) begin(k int) {
	if x := m.key(k); x.working {
		x.ready = false
	}
}

func (m *model) done(k int) {
	x := m.key(k)
	if !x.working {
		return
	}
	x.working = false
	if x.ready {
		m.enter(k, x.again)
	}
}

func (m *model) delay(k, p int, d time.Duration) {
	x := m.key(k)
	due := time.Now().Add(d)
	switch {
	case m.closed:
	case d <= 0:
		m.add(k, p)
	case !x.waits:
		x.waits, x.due, x.duePriority = true, due, p
	default:
		x.duePriority = max(x.duePriority, p)
		if due.Before(x.due) {
			x.due = due
		}
	}
}

// pass makes ready the keys that are due by now; no two keys are due at one time.
func (m *model) pass() {
	var due []int
	for k, x := range m.keys {
		if x.waits && !x.due.After(time.Now()) {
			due = append(due, k)
		}
	}
	slices.SortFunc(due, func(a, b int) int { return m.keys[a].due.Compare(m.keys[b].due) })
	for _, k := range due {
		m.keys[k].waits = false
		m.add(k, m.keys[k].duePriority)
	}
}

func group(k int) int { return k % 5 }

// TestLikeTheModel makes random calls to a queue and to the model, and compares the results
// after each.
func TestLikeTheModel(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) { likeTheModel(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func likeTheModel(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	const base, most = 8 * time.Second, 60 * time.Second
	q := workqueue.New(workqueue.Options[int]{
		Group: func(k int) string { return fmt.Sprint(group(k)) }, BaseDelay: base, MaxDelay: most,
	})
	m := &model{keys: map[int]*known{}, groups: map[[2]int]int{}}
	odd := time.Duration(0)                                    // makes every time different
	moment := func() time.Duration { odd += 1009; return odd } // a prime of nanoseconds
	for step := range 400 {
		time.Sleep(moment())
		synctest.Wait()
		m.pass()
		k, p := rnd.IntN(20), rnd.IntN(4)-1
		did := ""
		switch n := rnd.IntN(100); {
		case n < 30:
			did = fmt.Sprintf("add %d at %d", k, p)
			q.AddPriority(k, p)
			m.add(k, p)
		case n < 40:
			d := time.Duration(rnd.IntN(20)-2) * time.Second
			did = fmt.Sprintf("add %d after %v", k, d)
			q.AddAfter(k, d)
			m.delay(k, 0, d)
		case n < 50:
			did = fmt.Sprintf("retry %d", k)
			q.Retry(k)
			x := m.key(k)
			p := 0
			if x.working {
				p = x.taken
			}
			m.delay(k, p, min(most, base<<x.failures))
			x.failures++
		case n < 55:
			did = fmt.Sprintf("forget %d", k)
			q.Forget(k)
			m.key(k).failures = 0
		case n < 58:
			did = fmt.Sprintf("begin %d", k)
			q.Begin(k)
			m.begin(k)
		case n < 75:
			did = fmt.Sprintf("done %d", k)
			q.Done(k)
			m.done(k)
		case n < 97:
			if want := m.first(); want >= 0 {
				did = fmt.Sprintf("get %d", want)
				if got, ok := q.Get(t.Context()); !ok || got != want {
					t.Errorf("seed %d, step %d: got %d %v, want %d", seed, step, got, ok, want)
					return
				}
				m.take(want)
			}
		case n < 99:
			d := time.Duration(rnd.IntN(10)) * time.Second
			did = fmt.Sprintf("wait %v", d)
			time.Sleep(d)
			synctest.Wait()
			m.pass()
		case step > 350:
			did = "close"
			q.Close()
			m.closed = true
			for _, x := range m.keys {
				x.waits = false
			}
		}
		n := 0
		for _, x := range m.keys {
			if x.ready && !x.working {
				n++
			}
		}
		if q.Len() != n {
			t.Errorf("seed %d, step %d, %s: %d keys are ready, want %d", seed, step, did, q.Len(), n)
			return
		}
	}
	q.Close()
}
