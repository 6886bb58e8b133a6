package local_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// A meter is a file system in memory that knows how much it has held at most.
type meter struct {
	vfs.FS
	mem  *vfs.MemFS
	ops  atomic.Int64
	peak atomic.Int64
	// removed rings when a file is gone.
	removed chan struct{}
}

func (m *meter) Remove(name string) error {
	err := m.FS.Remove(name)
	select {
	case m.removed <- struct{}{}:
	default:
	}
	return err
}

func newMeter() *meter {
	m := &meter{mem: vfs.NewMem(), removed: make(chan struct{}, 1)}
	m.FS = errorfs.Wrap(m.mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		switch o.Kind {
		case errorfs.OpFileWrite:
			if m.ops.Add(1)%16 != 0 {
				return nil
			}
			fallthrough
		case errorfs.OpRemove, errorfs.OpFileClose:
			now := m.used()
			for old := m.peak.Load(); now > old && !m.peak.CompareAndSwap(old, now); old = m.peak.Load() {
			}
		}
		return nil
	}))
	return m
}

// used is the sum of the sizes of all files.
func (m *meter) used() (sum int64) {
	names, _ := m.mem.List("/data/log")
	for _, name := range names {
		if info, err := m.mem.Stat("/data/log/" + name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// A churn is keys overwritten at random.
type churn struct {
	live    int // MB
	size    int // of a value
	history int // one in so many of the live bytes
	rounds  int
}

// churns are a few that do not take long; `-tags soak` adds longer ones.
var churns = []churn{
	{1, 2 << 10, 16, 10},
	{4, 2 << 10, 16, 4},
	{4, 100 << 10, 4, 6},
}

// TestDiskUnderChurn overwrites keys at random at full speed. At no moment may the directory take
// more than the package comment promises.
func TestDiskUnderChurn(t *testing.T) {
	for _, c := range churns {
		t.Run(fmt.Sprintf("%dMB,values=%d,history=1:%d", c.live, c.size, c.history), func(t *testing.T) {
			t.Parallel()
			m := newMeter()
			s := open(t, "/data", local.Options{FS: m, History: -1})
			defer s.Close()
			keys := c.live << 20 / c.size
			step := max(1, keys/c.history)
			r := rand.NewChaCha8([32]byte{})
			n := rand.New(r)
			var worst, overLive float64
			for i := range keys * c.rounds {
				k := i
				if i >= keys {
					k = n.IntN(keys)
				}
				value := make([]byte, c.size)
				r.Read(value) // does not compress
				op := storage.Op{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", k), Value: value}
				if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
					t.Fatal(err)
				}
				if i%step != 0 || i < keys {
					continue
				}
				peak := m.peak.Swap(0)
				before := s.Stats()
				if err := s.Compact(t.Context(), s.Revision()); err != nil {
					t.Fatal(err)
				}
				kept := s.Stats().KeptBytes
				if before.LiveBytes > kept || kept > before.KeptBytes {
					t.Fatalf("%+v, and %d when that was compacted", before, kept)
				}
				if i == keys {
					continue // the earlier bytes were no churn
				}
				worst = max(worst, float64(peak)/float64(before.KeptBytes))
				overLive = max(overLive, float64(peak)/float64(before.LiveBytes))
				if kept := int64(before.KeptBytes); peak > max(kept*5/2, 2*kept+2<<20) {
					t.Errorf("%d bytes on disk, of %d kept, %d live", peak, before.KeptBytes, before.LiveBytes)
				}
			}
			t.Logf("at most %.2f times what is kept, %.2f what is live", worst, overLive)
		})
	}
}
