package etcd_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// cpu reports the CPU time per operation of this process, which includes the member: it is steadier
// than the clock of a shared machine.
func cpu(b *testing.B, f func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b.ReportAllocs()
	before := used()
	b.ResetTimer()
	f()
	b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkCommit is a write of 1 KB on condition, by 32 writers, through the store
// and through etcd's own client.
func BenchmarkCommit(b *testing.B) {
	url := startMember(b)
	value := make([]byte, 1<<10)
	b.Run("store", func(b *testing.B) {
		s := open(b, url, etcd.Options{})
		cpu(b, func() {
			parallel(b, func(ctx context.Context, key string) error {
				_, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{{Key: key, Value: value}}})
				return err
			})
		})
	})
	b.Run("client", func(b *testing.B) {
		c := client(b, url)
		cpu(b, func() {
			parallel(b, func(ctx context.Context, key string) error {
				_, err := c.Txn(ctx).Then(clientv3.OpPut(key, string(value))).Commit()
				return err
			})
		})
	})
}

// BenchmarkCurrent reads the current revision, from 32 readers at once and from a single one; the client's figure is the
// cost for each without sharing.
func BenchmarkCurrent(b *testing.B) {
	url := startMember(b)
	b.Run("store", func(b *testing.B) {
		s := open(b, url, etcd.Options{})
		cpu(b, func() {
			parallel(b, func(ctx context.Context, _ string) error {
				_, err := s.Current(ctx)
				return err
			})
		})
	})
	b.Run("single", func(b *testing.B) {
		s := open(b, url, etcd.Options{})
		cpu(b, func() {
			for b.Loop() {
				if _, err := s.Current(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("client", func(b *testing.B) {
		c := client(b, url)
		cpu(b, func() {
			parallel(b, func(ctx context.Context, key string) error {
				_, err := c.Get(ctx, key, clientv3.WithCountOnly())
				return err
			})
		})
	})
}

// BenchmarkWatch is an event of 1 KB from its commit to its cursor.
func BenchmarkWatch(b *testing.B) {
	s := open(b, startMember(b), etcd.Options{})
	c, err := s.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	value := make([]byte, 1<<10)
	cpu(b, func() {
		for b.Loop() {
			res, err := s.Commit(b.Context(), storage.Txn{Then: []storage.Op{{Key: "/k", Value: value}}})
			if err != nil {
				b.Fatal(err)
			}
			for progress := storage.Revision(0); progress < res.Revision; {
				<-c.Bell()
				batch, err := c.Next()
				if err != nil {
					b.Fatal(err)
				}
				progress = batch.Progress
			}
		}
	})
}

func client(b *testing.B, url string) *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func parallel(b *testing.B, f func(ctx context.Context, key string) error) {
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if err := f(b.Context(), fmt.Sprint("/bench/", i%1000)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
