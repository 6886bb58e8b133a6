package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// BenchmarkChurn overwrites keys at random and reports how much disk that takes,
// as a multiple of what is live and of what is kept of the history: at the worst
// moment, and of what is live after it has been quiet for a while.
func BenchmarkChurn(b *testing.B) {
	const keys = 100_000
	const size = 2 << 10
	const history = 2 * time.Second
	s := open(b, b.TempDir(), local.Options{History: history, Fsync: local.FsyncNever})
	defer s.Close()
	value := func(r *rand.ChaCha8) []byte {
		v := make([]byte, size)
		r.Read(v) // does not compress
		return v
	}
	worst := 0.0
	sample := func() float64 {
		st := s.Stats()
		kept := float64(st.Keys+st.Events) * size
		worst = max(worst, float64(st.DiskBytes)/kept)
		return float64(st.DiskBytes) / (keys * size)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.NewChaCha8([32]byte{byte(w)})
			n := rand.New(r)
			for i := w; i < max(b.N, keys); i += 4 {
				k := i
				if i >= keys {
					k = n.IntN(keys)
				}
				if i > keys && i%50 < 4 {
					time.Sleep(10 * time.Millisecond) // 10 MB a second
				}
				op := storage.Op{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", k), Value: value(r)}
				if _, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{op}}); err != nil {
					b.Error(err)
					return
				}
				if i%1000 == 0 && i > keys {
					sample()
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(worst, "disk/kept-worst")
	time.Sleep(5 * history)
	b.ReportMetric(sample(), "disk/live-quiet")
}
