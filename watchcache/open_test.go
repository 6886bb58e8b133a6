package watchcache_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// lock decrypts values that begin with a key, which it may not have yet.
type lock struct{ keys []string }

func (l *lock) open(kv *storage.KeyValue, _ bool) ([]byte, error) {
	for _, key := range l.keys {
		if value, ok := bytes.CutPrefix(kv.Value, []byte(key+":")); ok {
			return value, nil
		}
	}
	return nil, errors.New("no key for " + kv.Key)
}

func (w *world) seal(key, spec string) storage.Revision {
	w.t.Helper()
	op := put(spec)
	op.Value = append([]byte(key+":"), op.Value...)
	return w.commit(op)
}

// TestOpen: an object whose value cannot be decrypted is unreadable until it can be. Then the next read has it, whichever
// read that is, and a watch from before sees it.
func TestOpen(t *testing.T) {
	for read, again := range map[string]func(w *world) error{
		"Get": func(w *world) error {
			o, _, err := w.pods.Get(t.Context(), "a", "y", watchcache.ReadAt{})
			if err == nil && !strings.Contains(string(o.Value()), `"uid-y"`) {
				err = errors.New(string(o.Value()))
			}
			return err
		},
		"List": func(w *world) error {
			_, err := w.present().List(watchcache.Selection{}, "", 0)
			return err
		},
		"Watch": func(w *world) error {
			watcher, err := w.pods.Watch(t.Context(), watchcache.Selection{}, 0)
			if err == nil {
				watcher.Close()
			}
			return err
		},
	} {
		t.Run(read, func(t *testing.T) {
			l := &lock{keys: []string{"one"}}
			w := newWorld(t, watchcache.HubOptions{Open: l.open})
			before := w.seal("one", "a/x n1")
			w.sync()
			watcher := w.watch("", 0)
			w.seal("two", "a/y n1")
			w.sync()
			w.broken(watcher, "a/y")
			for _, failing := range []string{"first", "second"} {
				err := again(w)
				w.wantUnreadable(failing, err, "a/y")
				if e := (*watchcache.OpenError)(nil); !errors.As(err, &e) || e.Error() != "no key for /registry/pods/a/y" {
					t.Errorf("%s: %v", failing, err)
				}
			}
			l.keys = append(l.keys, "two")
			if err := again(w); err != nil {
				t.Errorf("after the key is there: %v", err)
			}
			if n := w.pods.Stats().Unreadable; n != 0 {
				t.Errorf("%d objects are unreadable", n)
			}
			from := w.watch("", before)
			events, _, err := from.Next()
			if got := transcript(t, events); err != nil || !strings.Contains(got, "a/y") || strings.Contains(got, "a/x") {
				t.Errorf("a watch from before: %s, %v", got, err)
			}
		})
	}
}
