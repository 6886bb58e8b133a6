package watchcache_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead.dev/watchcache"
)

func TestFormIsBuiltOnce(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	o, _ := object(t, w, `{}`)
	var built atomic.Int64
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			id := watchcache.Encoding(fmt.Sprint("form", i%4))
			b, err := o.Encoding(id, func(*watchcache.Object) ([]byte, error) {
				built.Add(1)
				return []byte(id), nil
			})
			if err != nil || string(b) != string(id) {
				t.Errorf("%s: %q, %v", id, b, err)
			}
		})
	}
	wg.Wait()
	if built.Load() != 4 {
		t.Errorf("built %d times, want 4", built.Load())
	}
}

func TestFailedFormIsNotKept(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	o, _ := object(t, w, `{}`)
	boom := errors.New("boom")
	if _, err := o.Encoding("x", func(*watchcache.Object) ([]byte, error) { return nil, boom }); err != boom {
		t.Fatal(err)
	}
	if b, err := o.Encoding("x", func(*watchcache.Object) ([]byte, error) { return []byte("ok"), nil }); err != nil || string(b) != "ok" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestFormsOfEventsDiffer(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	all, node := w.watch("", 0), w.watch("fields=spec.nodeName=n1", 0)
	w.put("a/x")
	w.put("a/x n1")
	w.put("a/x n2")
	w.sync()
	var got bytes.Buffer
	for _, watcher := range []*watchcache.Watcher{all, node, w.watch("", 1)} {
		events, _ := drain(t, watcher)
		for _, ev := range events {
			b, err := ev.Encoding("frame", func(ev watchcache.Event) ([]byte, error) {
				return fmt.Appendf(nil, "%s@%d ", ev.Type, ev.Revision), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			got.Write(b)
		}
	}
	want := "ADDED@2 MODIFIED@3 MODIFIED@4 " + "ADDED@3 DELETED@4 " + "ADDED@2 MODIFIED@3 MODIFIED@4 "
	if got.String() != want {
		t.Errorf("got %s\nwant %s", got.String(), want)
	}
}

func TestFormsAreBounded(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{EncodingBytes: 1000})
	build := func(*watchcache.Object) ([]byte, error) { return make([]byte, 100), nil }
	first, _ := object(t, w, `{}`)
	first.Encoding("x", build)
	for range 1000 { // to still be there, one in ten would have to be lucky 990 times
		o, _ := object(t, w, `{}`)
		o.Encoding("x", build)
	}
	if got := w.hub.Stats().EncodingBytes; got != 1000 {
		t.Errorf("forms hold %d bytes, want 1000", got)
	}
	again := false
	first.Encoding("x", func(*watchcache.Object) ([]byte, error) { again = true; return nil, nil })
	if !again {
		t.Error("an old form was never dropped")
	}
}

// An object keeps an encoding as long as there is room for others, and those that it has.
func TestKeeps(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{EncodingBytes: 1000})
	build := func(*watchcache.Object) ([]byte, error) { return make([]byte, 100), nil }
	first, _ := object(t, w, `{}`)
	if !first.Keeps("x") {
		t.Error("there is room for the first one")
	}
	first.Encoding("x", build)
	for range 9 {
		o, _ := object(t, w, `{}`)
		o.Encoding("x", build)
	}
	other, _ := object(t, w, `{}`)
	if !first.Keeps("x") || first.Keeps("y") || other.Keeps("x") {
		t.Errorf("the first one keeps x: %t, y: %t; another one x: %t", first.Keeps("x"), first.Keeps("y"), other.Keeps("x"))
	}
}

// Walking again and again over somewhat more than there is room for must not
// build everything each time.
func TestFormsSurviveWalksOverTooMany(t *testing.T) {
	const objects, walks = 125, 20
	w := newWorld(t, watchcache.HubOptions{EncodingBytes: 100 * 100})
	all := make([]*watchcache.Object, objects)
	for i := range all {
		all[i], _ = object(t, w, `{}`)
	}
	built := 0
	for range walks {
		for _, o := range all {
			o.Encoding("x", func(*watchcache.Object) ([]byte, error) { built++; return make([]byte, 100), nil })
		}
	}
	if built > objects*walks*3/4 {
		t.Errorf("%d of %d times a form was built", built, objects*walks)
	}
}
