package local_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead.dev/internal/cputime"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// BenchmarkCommit puts 1 KB per transaction, synced, from many writers at once.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		for name, o := range map[string]local.Options{"disk": {}, "memory": {InMemory: true}} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				s := open(b, b.TempDir(), o)
				defer s.Close()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.SetBytes(1024)
				b.ReportAllocs()
				before := cputime.Used()
				b.ResetTimer()
				for w := range writers {
					wg.Go(func() {
						for i := 0; left.Add(-1) >= 0; i++ {
							op := storage.Op{Key: fmt.Sprintf("/registry/pods/ns-%d/pod-%d", w, i%100), Value: make([]byte, 1024)}
							if _, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{op}}); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				b.ReportMetric(float64(cputime.Used()-before)/float64(b.N), "cpu-ns/op")
				st := s.Stats()
				b.ReportMetric(float64(st.Commits)/float64(st.Groups), "commits/sync")
			})
		}
	}
}

func fill(b *testing.B, s storage.Store, n int) {
	for i := 0; i < n; i += 100 {
		var ops []storage.Op
		for j := range 100 {
			ops = append(ops, storage.Op{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", i+j), Value: make([]byte, 1024)})
		}
		if _, err := s.Commit(b.Context(), storage.Txn{Then: ops}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRange reads from 10,000 keys.
func BenchmarkRange(b *testing.B) {
	s := open(b, "", local.Options{InMemory: true})
	defer s.Close()
	fill(b, s, 10_000)
	end := storage.PrefixEnd("/registry/pods/")
	for name, r := range map[string]storage.RangeRequest{
		"key":      {Start: "/registry/pods/default/pod-005000"},
		"all":      {Start: "/registry/pods/", End: end},
		"limit500": {Start: "/registry/pods/", End: end, Limit: 500},
		"count":    {Start: "/registry/pods/", End: end, CountOnly: true},
		"old":      {Start: "/registry/pods/", End: end, Revision: 50},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Range(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatch commits beside many cursors, each read at its bell: on one
// shared prefix, or on a key each, of which every write concerns one.
func BenchmarkWatch(b *testing.B) {
	for _, kind := range []string{"prefix", "keys"} {
		for _, n := range []int{0, 1, 100, 10_000} {
			if kind == "prefix" && n == 10_000 || kind == "keys" && n == 0 {
				continue
			}
			b.Run(fmt.Sprintf("%s/cursors=%d", kind, n), func(b *testing.B) {
				s := open(b, "", local.Options{InMemory: true})
				var seen atomic.Int64
				var readers sync.WaitGroup
				for i := range n {
					start, end := "/registry/", "/registry0"
					if kind == "keys" {
						start, end = fmt.Sprintf("/registry/%d", i), ""
					}
					c, err := s.Watch(storage.WatchRequest{Start: start, End: end})
					if err != nil {
						b.Fatal(err)
					}
					readers.Go(func() {
						for range c.Bell() {
							batch, err := c.Next()
							if err != nil {
								return
							}
							seen.Add(int64(len(batch.Events)))
						}
					})
				}
				value := make([]byte, 1024)
				before := cputime.Used()
				i := 0
				for b.Loop() {
					op := storage.Op{Key: fmt.Sprintf("/registry/%d", i%max(n, 1)), Value: value}
					if _, err := s.Commit(b.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(float64(cputime.Used()-before)/float64(i), "cpu-ns/op")
				s.Close()
				readers.Wait()
				b.ReportMetric(float64(seen.Load())/float64(i), "events/op")
			})
		}
	}
}

// BenchmarkOpen opens an empty directory, one with 10,000 keys of 1 KB, and, unless -short
// is given, one with 1 GB: 500,000 keys of 2 KB that do not compress.
func BenchmarkOpen(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			open(b, b.TempDir(), local.Options{}).Close()
		}
	})
	again := func(b *testing.B, put func(storage.Store)) {
		dir := b.TempDir()
		s := open(b, dir, local.Options{Fsync: local.FsyncNever})
		put(s)
		s.Close()
		before := cputime.Used()
		n := 0
		for b.Loop() {
			open(b, dir, local.Options{}).Close()
			n++
		}
		b.ReportMetric(float64(cputime.Used()-before)/float64(n), "cpu-ns/op")
	}
	b.Run("keys=10000", func(b *testing.B) { again(b, func(s storage.Store) { fill(b, s, 10_000) }) })
	b.Run("1GB", func(b *testing.B) {
		if testing.Short() {
			b.Skip("-short")
		}
		noise := rand.NewChaCha8([32]byte{})
		again(b, func(s storage.Store) {
			for i := 0; i < 500_000; i += 100 {
				var ops []storage.Op
				for j := range 100 {
					value := make([]byte, 2<<10)
					noise.Read(value)
					ops = append(ops, storage.Op{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", i+j), Value: value})
				}
				if _, err := s.Commit(b.Context(), storage.Txn{Then: ops}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
