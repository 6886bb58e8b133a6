package etcdserver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// etcdForever is the peer: etcd itself, with its defaults.
func etcdForever() {
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.LogOutputs = os.Args[1], "fatal", []string{"/dev/null"}
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	e, err := embed.StartEtcd(c)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	<-e.Server.ReadyNotify()
	fmt.Println(e.Clients[0].Addr())
	select {}
}

// A peer is a server in a process of its own, whose processor time is measured.
type peer struct {
	cmd     *exec.Cmd
	address string
}

func startPeer(b *testing.B, role string) peer {
	b.Helper()
	cmd := exec.Command(os.Args[0], b.TempDir(), "127.0.0.1:0")
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line := bufio.NewScanner(out)
	if !line.Scan() || strings.HasPrefix(line.Text(), "error") {
		b.Fatalf("%s says %q", role, line.Text())
	}
	return peer{cmd, line.Text()}
}

// cpu is the processor time that the peer has used.
func (p peer) cpu(b *testing.B) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("processor time is known on Linux only")
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int
	for _, s := range f[11:13] {
		n, _ := strconv.Atoi(s)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // 100 ticks a second
}

// memory is the peer's resident set, in bytes.
func (p peer) memory(b *testing.B) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		b.Skip("memory is known on Linux only")
	}
	n, _ := strconv.Atoi(strings.Fields(string(stat))[1])
	return n * os.Getpagesize()
}

// clients are n clients with a connection each, as n processes would have.
func (p peer) clients(b *testing.B, n int) []*clientv3.Client {
	var out []*clientv3.Client
	for range n {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{p.address}, Logger: zap.NewNop()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		out = append(out, c)
	}
	return out
}

// measure runs f b.N times from many goroutines at once.
func (p peer) measure(b *testing.B, workers int, clients []*clientv3.Client, f func(c *clientv3.Client, worker, i int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	before := p.cpu(b)
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := 0; left.Add(-1) >= 0; i++ {
				if err := f(clients[w%len(clients)], w, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((p.cpu(b)-before).Microseconds())/float64(b.N), "server-cpu-us/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

var peers = map[string]string{"fairlead": roleServer, "etcd": roleEtcd}

// BenchmarkPut puts 1 KB, synced.
func BenchmarkPut(b *testing.B) {
	value := strings.Repeat("x", 1024)
	for name, role := range peers {
		p := startPeer(b, role)
		clients := p.clients(b, 16)
		for _, writers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				p.measure(b, writers, clients, func(c *clientv3.Client, w, i int) error {
					_, err := c.Put(context.Background(), fmt.Sprintf("/registry/pods/ns-%d/pod-%d", w, i%100), value)
					return err
				})
			})
		}
	}
}

// BenchmarkTxn updates an object as kube-apiserver does.
func BenchmarkTxn(b *testing.B) {
	value := strings.Repeat("x", 1024)
	for name, role := range peers {
		p := startPeer(b, role)
		clients := p.clients(b, 16)
		b.Run(fmt.Sprintf("%s/writers=64", name), func(b *testing.B) {
			var at [64]int64
			p.measure(b, 64, clients, func(c *clientv3.Client, w, i int) error {
				key := fmt.Sprintf("/registry/pods/default/pod-%d", w)
				r, err := c.Txn(context.Background()).If(clientv3.Compare(clientv3.ModRevision(key), "=", at[w])).
					Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
				if err == nil && r.Succeeded {
					at[w] = r.Header.Revision
				} else if err == nil {
					at[w] = r.Responses[0].GetResponseRange().Kvs[0].ModRevision
				}
				return err
			})
		})
	}
}

// BenchmarkGet reads one key of 1 KB, BenchmarkList 500 of 10,000.
func BenchmarkGet(b *testing.B)  { benchmarkRead(b, 64, 1) }
func BenchmarkList(b *testing.B) { benchmarkRead(b, 8, 500) }

func benchmarkRead(b *testing.B, readers, limit int) {
	value := strings.Repeat("x", 1024)
	for name, role := range peers {
		p := startPeer(b, role)
		clients := p.clients(b, 16)
		for i := 0; i < 10_000; i += 100 {
			var ops []clientv3.Op
			for j := range 100 {
				ops = append(ops, clientv3.OpPut(fmt.Sprintf("/registry/pods/default/pod-%06d", i+j), value))
			}
			if _, err := clients[0].Txn(context.Background()).Then(ops...).Commit(); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%s/readers=%d", name, readers), func(b *testing.B) {
			p.measure(b, readers, clients, func(c *clientv3.Client, w, i int) error {
				key := fmt.Sprintf("/registry/pods/default/pod-%06d", (w*7919+i*31)%9000)
				if limit == 1 {
					_, err := c.Get(context.Background(), key)
					return err
				}
				_, err := c.Get(context.Background(), key, clientv3.WithRange("/registry/pods0"), clientv3.WithLimit(int64(limit)))
				return err
			})
		})
	}
}

// BenchmarkWatch puts to a prefix that 1,000 watches of 16 connections watch.
func BenchmarkWatch(b *testing.B) {
	const watches = 1000
	for name, role := range peers {
		p := startPeer(b, role)
		clients := p.clients(b, 16)
		b.Run(fmt.Sprintf("%s/watches=%d", name, watches), func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			var readers sync.WaitGroup
			defer func() { cancel(); readers.Wait() }()
			var seen atomic.Int64
			all := make(chan struct{})
			for i := range watches {
				w := clients[i%len(clients)].Watch(ctx, "/w/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
				<-w
				readers.Go(func() {
					for r := range w {
						if seen.Add(int64(len(r.Events))) >= int64(b.N)*watches {
							select {
							case <-all:
							default:
								close(all)
							}
						}
					}
				})
			}
			value := strings.Repeat("x", 1024)
			before := p.cpu(b)
			b.ResetTimer()
			for i := range b.N {
				if _, err := clients[i%16].Put(ctx, "/w/"+strconv.Itoa(i%100), value); err != nil {
					b.Fatal(err)
				}
			}
			<-all
			b.StopTimer()
			b.ReportMetric(float64((p.cpu(b)-before).Microseconds())/float64(b.N*watches), "server-cpu-us/event")
		})
	}
}

// BenchmarkIdleWatches holds watches without events, all on one stream or a few on each of many,
// over 16 connections, and measures the server's memory for each.
func BenchmarkIdleWatches(b *testing.B) {
	const watches, atOnce = 100_000, 100
	for _, streams := range []int{1, 1000, 10_000} {
		for name, role := range peers {
			b.Run(fmt.Sprintf("%s/watches=%d/streams=%d", name, watches, streams), func(b *testing.B) {
				p := startPeer(b, role)
				clients := p.clients(b, 16)
				before := p.memory(b)
				for i := range streams {
					stream, err := pb.NewWatchClient(clients[i%len(clients)].ActiveConnection()).Watch(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					for from := 0; from < watches/streams; from += atOnce {
						n := min(atOnce, watches/streams-from)
						for j := range n {
							key := fmt.Appendf(nil, "/registry/pods/default/pod-%d-%d", i, from+j)
							r := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: key}}}
							if err := stream.Send(r); err != nil {
								b.Fatal(err)
							}
						}
						for range n {
							if _, err := stream.Recv(); err != nil {
								b.Fatal(err)
							}
						}
					}
				}
				b.ReportMetric(float64(p.memory(b)-before)/watches, "bytes/watch")
			})
		}
	}
}
