package workqueue_test

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/workqueue"
)

// take returns the next n keys, each done before the next is taken.
func take(t *testing.T, q *workqueue.Queue[string], n int) []string {
	t.Helper()
	var ks []string
	for range n {
		k, ok := q.Get(t.Context())
		if !ok {
			t.Fatalf("the queue ended after %v", ks)
		}
		ks = append(ks, k)
		q.Done(k)
	}
	return ks
}

func want(t *testing.T, got []string, want string) {
	t.Helper()
	if !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("the keys came as %v, want %s", got, want)
	}
}

func TestPriorities(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.AddPriority("list-1", -100)
	q.AddPriority("list-2", -100)
	q.AddPriority("list-3", -100)
	q.Add("a")
	q.AddPriority("urgent", 7)
	q.Add("list-2")               // raised
	q.AddPriority("urgent", -100) // never lowered
	want(t, take(t, q, 5), "urgent a list-2 list-1 list-3")

	// a key added while it is being worked on keeps its highest priority
	q.Add("a")
	get(t, q, "a")
	q.AddPriority("a", 5)
	q.Add("a")
	q.AddPriority("b", 3)
	q.Done("a")
	want(t, take(t, q, 2), "a b")
	if q.Len() != 0 {
		t.Errorf("%d keys are left", q.Len())
	}
}

// TestManyPriorities uses more of them than the queue keeps levels for.
func TestManyPriorities(t *testing.T) {
	q := workqueue.New(workqueue.Options[int]{})
	for round := range 3 {
		for i := range 100 {
			q.AddPriority(i, (i*37+round)%100)
		}
		last := 100
		for range 100 {
			k, _ := q.Get(t.Context())
			if p := (k*37 + round) % 100; p >= last {
				t.Fatalf("priority %d came after %d", p, last)
			} else {
				last = p
			}
			q.Done(k)
		}
	}
}

func TestGroupsTakeTurns(t *testing.T) {
	namespace := func(k string) string { ns, _, _ := strings.Cut(k, "/"); return ns }
	q := workqueue.New(workqueue.Options[string]{Group: namespace})
	for _, k := range strings.Fields("big/1 big/2 big/3 big/4 small/1 other/1 other/2") {
		q.Add(k)
	}
	want(t, take(t, q, 3), "big/1 small/1 other/1")
	q.Add("small/2") // its group comes last now
	want(t, take(t, q, 5), "big/2 other/2 small/2 big/3 big/4")

	// a key that is raised out of a group leaves the others' turns as they were
	for _, k := range strings.Fields("a/1 a/2 b/1 c/1") {
		q.Add(k)
	}
	q.AddPriority("b/1", 1)
	q.AddPriority("a/2", 1)
	want(t, take(t, q, 4), "b/1 a/2 a/1 c/1")
}
