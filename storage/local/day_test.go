//go:build unix

package local_test

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// day has values as this server stored them: a node and its Lease, and the states of a pod from its
// creation to its deletion.
//
//go:embed testdata/day
var day embed.FS

// times are the times in stored values.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// uids are the UIDs in stored values.
var uids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// value returns a recorded value with other times, and with the names and UIDs of an object.
func value(b *testing.B, file string, at time.Time, object int) []byte {
	b.Helper()
	text, err := day.ReadFile("testdata/day/" + file)
	if err != nil {
		b.Fatal(err)
	}
	text = bytes.TrimSpace(text)
	text = times.ReplaceAllFunc(text, func(old []byte) []byte {
		if bytes.ContainsRune(old, '.') {
			return []byte(at.Format("2006-01-02T15:04:05.000000Z"))
		}
		return []byte(at.Format(time.RFC3339))
	})
	r := rand.New(rand.NewPCG(uint64(object), 0))
	text = uids.ReplaceAllFunc(text, func([]byte) []byte {
		return fmt.Appendf(nil, "%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
	})
	text = bytes.ReplaceAll(text, []byte("node-1"), fmt.Appendf(nil, "node-%d", object))
	return bytes.ReplaceAll(text, []byte("ws42b"), fmt.Appendf(nil, "%05x", object))
}

// BenchmarkDay keeps the writes of a day, all of them, as with --history=24h, and reports the disk and
// the memory that they take, in all and for each version, and the time to open the store again. The time between the writes does not
// matter to either, so a day passes in seconds.
//
//   - heartbeats: 100 nodes, each with a Lease every 10 seconds and a status every 5 minutes;
//   - pods: 20,000 pods that are created, run and are deleted, 7 writes each.
func BenchmarkDay(b *testing.B) {
	loads := map[string]func(b *testing.B, put func(key string, value []byte)){
		"heartbeats": func(b *testing.B, put func(string, []byte)) {
			start, jitter := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), rand.New(rand.NewPCG(1, 1))
			for tick := range 24 * 360 {
				for n := range 100 {
					at := start.Add(time.Duration(tick)*10*time.Second + time.Duration(n)*97*time.Millisecond + time.Duration(jitter.IntN(1000))*time.Microsecond)
					put(fmt.Sprintf("/registry/leases/kube-node-lease/node-%d", n), value(b, "lease.json", at, n))
					if tick%30 == 0 {
						put(fmt.Sprintf("/registry/minions/node-%d", n), value(b, "node.json", at, n))
					}
				}
			}
		},
		"pods": func(b *testing.B, put func(string, []byte)) {
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			const together = 100 // pods live at the same time
			for first := 0; first < 20_000; first += together {
				for state := 1; state <= 6; state++ {
					for n := first; n < first+together; n++ {
						put(fmt.Sprintf("/registry/pods/default/day-%05d", n), value(b, fmt.Sprintf("pod%d.json", state), start.Add(time.Duration(n)*4*time.Second), n))
					}
				}
				for n := first; n < first+together; n++ {
					put(fmt.Sprintf("/registry/pods/default/day-%05d", n), nil)
				}
			}
		},
	}
	for name, load := range loads {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				keepDay(b, load)
			}
		})
	}
}

func keepDay(b *testing.B, load func(b *testing.B, put func(key string, value []byte))) {
	dir := b.TempDir()
	s := open(b, dir, local.Options{History: 24 * time.Hour, Fsync: local.FsyncNever})
	defer func() { s.Close() }()
	before := heap()
	var written, count int64
	load(b, func(key string, value []byte) {
		op := storage.Op{Key: key, Value: bytes.Clone(value)}
		if value == nil {
			op.Type = storage.Delete
		}
		if _, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			b.Fatal(err)
		}
		written, count = written+int64(len(key)+len(value)), count+1
	})
	disk, memory := blocks(dir), heap()-before
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	s = open(b, dir, local.Options{History: 24 * time.Hour, Fsync: local.FsyncNever})
	b.ReportMetric(time.Since(start).Seconds(), "open-s")
	b.ReportMetric(float64(count), "versions")
	b.ReportMetric(float64(written)/1e6, "written-MB")
	b.ReportMetric(float64(disk)/1e6, "disk-MB")
	b.ReportMetric(float64(memory)/1e6, "heap-MB")
	b.ReportMetric(float64(disk)/float64(count), "disk-B/version")
	b.ReportMetric(float64(memory)/float64(count), "heap-B/version")
}

// heap returns the bytes of live objects, once the packer has caught up.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkVersions reads versions of a Lease that has those of a day: the newest 64, and all.
func BenchmarkVersions(b *testing.B) {
	s := open(b, "", local.Options{InMemory: true, History: 24 * time.Hour})
	defer s.Close()
	const all = 24 * 360
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for tick := range all {
		op := storage.Op{Key: "/lease", Value: value(b, "lease.json", start.Add(time.Duration(tick)*10*time.Second), 1)}
		if _, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			b.Fatal(err)
		}
	}
	for _, limit := range []int{64, all} {
		b.Run(fmt.Sprint(limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := s.Versions(b.Context(), storage.VersionsRequest{Key: "/lease", Limit: limit})
				if err != nil || len(res.Versions) != limit {
					b.Fatal(len(res.Versions), err)
				}
			}
		})
	}
}
