//go:build unix

package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// blocks returns the size on disk of the files under a directory, including reserved blocks.
func blocks(dir string) (sum int64) {
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		var st syscall.Stat_t
		if syscall.Lstat(path, &st) == nil {
			sum += st.Blocks * 512
		}
		return nil
	})
	return sum
}

// BenchmarkChurn overwrites keys at random from four writers and reports the space on disk: at the
// worst moment, as a multiple of the live bytes and of the kept bytes (or those kept in the last
// second: history may expire faster than a merge makes space), and as a multiple of the live bytes
// after some quiet time.
func BenchmarkChurn(b *testing.B) {
	const size = 2 << 10
	const history = 2 * time.Second
	for _, c := range []struct{ live, pace int }{{1, 1}, {8, 1}, {8, 100}, {50, 5}, {50, 100}, {200, 10}} { // MB, MB/s at most
		b.Run(fmt.Sprintf("live=%dMB/pace=%dMB", c.live, c.pace), func(b *testing.B) {
			dir := b.TempDir()
			s := open(b, dir, local.Options{History: history, Fsync: local.FsyncNever})
			defer s.Close()
			keys := c.live << 20 / size
			put := func(k int, r *rand.ChaCha8) {
				v := make([]byte, size)
				r.Read(v) // does not compress
				op := storage.Op{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", k), Value: v}
				if _, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{op}}); err != nil {
					b.Error(err)
				}
			}
			fill := rand.NewChaCha8([32]byte{9})
			for k := range keys {
				put(k, fill)
			}
			var worst, worstLive float64
			var recent []local.Stats
			var times []time.Time
			sample := func() float64 {
				st := s.Stats()
				used := float64(blocks(dir))
				recent, times = append(recent, st), append(times, time.Now())
				for time.Since(times[0]) > time.Second {
					recent, times = recent[1:], times[1:]
				}
				var kept uint64
				for _, r := range recent {
					kept = max(kept, r.KeptBytes)
				}
				worst = max(worst, used/float64(kept))
				worstLive = max(worstLive, used/float64(st.LiveBytes))
				return used / float64(st.LiveBytes)
			}
			var wg sync.WaitGroup
			began := time.Now()
			for w := range 4 {
				wg.Go(func() {
					r := rand.NewChaCha8([32]byte{byte(w)})
					n := rand.New(r)
					for i := w; i < b.N; i += 4 {
						time.Sleep(time.Until(began.Add(time.Duration(i*size) * time.Second / time.Duration(c.pace<<20))))
						put(n.IntN(keys), r)
					}
				})
			}
			over := make(chan struct{})
			go func() {
				wg.Wait()
				close(over)
			}()
			for wait := true; wait; sample() {
				select {
				case <-over:
					wait = false
				case <-time.After(5 * time.Millisecond):
				}
			}
			b.ReportMetric(float64(b.N*size)/time.Since(began).Seconds()/(1<<20), "MB/s")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(worst, "disk/kept-worst")
			b.ReportMetric(worstLive, "disk/live-worst")
			time.Sleep(2 * history)
			b.ReportMetric(sample(), "disk/live-quiet")
		})
	}
}
