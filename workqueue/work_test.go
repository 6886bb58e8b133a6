package workqueue_test

import (
	"slices"
	"testing"

	"fairlead.dev/workqueue"
)

func TestWorkYieldsUntilTheDrainIsOver(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	q.Add("b")
	var got []string
	for k := range q.Work(t.Context()) {
		got = append(got, k)
		if len(got) == 1 {
			q.Add("a") // comes again: Done follows the body
			q.Close()
		}
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestWorkIsDoneHoweverTheBodyIsLeft(t *testing.T) {
	for name, leave := range map[string]func(*workqueue.Queue[string]){
		"break": func(q *workqueue.Queue[string]) {
			for range q.Work(t.Context()) {
				q.Add("a")
				break
			}
		},
		"panic": func(q *workqueue.Queue[string]) {
			defer func() { _ = recover() }()
			for range q.Work(t.Context()) {
				q.Add("a")
				panic("the work failed")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[string]{})
			q.Add("a")
			leave(q)
			if q.Len() != 1 {
				t.Fatal("the key is still held")
			}
			get(t, q, "a")
		})
	}
}

func TestWorkWhoseBodyCallsDone(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	q.Add("b")
	q.Close()
	var got []string
	for k := range q.Work(t.Context()) {
		got = append(got, k)
		q.Done(k)
	}
	want(t, got, "a b")
	if err := q.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
