package local_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// TestLoad opens a store with values of all kinds again, and compares all of its history: values like others and like none, small and
// large ones, of objects that change once and often, that are deleted and made again.
func TestLoad(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	rnd := rand.New(rand.NewPCG(1, 2))
	template := strings.Repeat("a line of a template, ", 60)
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.IntN(256))
		}
		return string(b)
	}
	value := func(n int) string {
		switch n % 7 {
		case 0, 1, 2:
			return fmt.Sprint(n, template[:rnd.IntN(len(template))], n*n, template)
		case 3:
			return random(rnd.IntN(3000))
		case 4:
			return random(rnd.IntN(300))
		case 5:
			return strings.Repeat(random(10), 7000)
		default:
			return ""
		}
	}
	s := open(t, dir, local.Options{History: -1})
	last := map[int]string{}
	for n := range 4000 {
		key := n
		if n%3 > 0 {
			key = rnd.IntN(50) // some keys change often
		}
		op := storage.Op{Key: fmt.Sprint("/things/thing-", key), Value: []byte(value(n))}
		switch {
		case last[key] != "" && n%5 == 0:
			op.Type, op.Value = storage.Delete, nil
		case last[key] != "" && n%5 > 1: // like the value before
			op.Value = fmt.Append(nil, last[key][:len(last[key])/2], n, last[key][len(last[key])/2:])
		}
		last[key] = string(op.Value)
		if _, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	// events returns all events with the values before, so that each version is read twice.
	events := func() (all []storage.Event) {
		c, err := s.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd, After: 1, Prev: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for {
			b, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, b.Events...); b.Progress == s.Revision() {
				return all
			}
		}
	}
	want := events()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, local.Options{History: -1})
	defer s.Close()
	got := events()
	if len(got) != len(want) || len(got) < 3000 {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i, e := range got {
		if !reflect.DeepEqual(e, want[i]) {
			t.Fatalf("%s differs at revision %d", e.KV.Key, e.Revision())
		}
	}
}
