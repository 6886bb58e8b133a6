package etcdserver_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"fairlead.dev/internal/port"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// serveForever is the process that is killed: a store on disk, served on the given address.
func serveForever() {
	store, err := local.Open(os.Args[1], local.Options{})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", os.Args[2])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	fmt.Println("error:", etcdserver.New(etcdserver.Config{Store: store}).Serve(l))
	os.Exit(1)
}

func startServer(t *testing.T, dir, address string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir, address)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleServer)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line := bufio.NewScanner(out)
	if !line.Scan() || len(line.Text()) > 5 && line.Text()[:5] == "error" {
		t.Fatalf("the server says %q", line.Text())
	}
	return cmd, line.Text()
}

// An operation on a register, which is a key: the request and its answer.
type (
	input struct {
		key  int
		kind int
		// value to write; mod revision to write at.
		value string
		mod   int64
	}
	output struct {
		unknown bool // no answer: it may have happened, or may yet
		value   string
		mod     int64
		held    bool
	}
	register struct {
		value string
		mod   int64
	}
)

const (
	read = iota
	write
	swap   // write if the register is at a revision, else read
	remove // delete it
)

// registers is the model of keys: a write has a higher revision than the previous one, and reads
// return the last write.
var registers = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		by := map[int][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(input).key
			by[key] = append(by[key], op)
		}
		var out [][]porcupine.Operation
		for _, ops := range by {
			out = append(out, ops)
		}
		return out
	},
	Init: func() []any { return []any{register{}} },
	Step: func(state, in, out any) []any {
		s, i, o := state.(register), in.(input), out.(output)
		switch i.kind {
		case read:
			if o.value == s.value && (o.mod == s.mod || s.mod == unknownRevision || s.value == "") {
				return []any{register{o.value, o.mod}}
			}
			return nil
		case swap:
			holds := s.mod == i.mod
			if s.mod == unknownRevision {
				// The revision was not answered, so no operation can name it.
				holds = false
			}
			if o.unknown {
				if holds {
					return []any{s, register{i.value, unknownRevision}}
				}
				return []any{s}
			}
			if o.held != holds {
				return nil
			}
			if !holds {
				if o.value == s.value && (o.mod == s.mod || s.mod == unknownRevision) {
					return []any{register{o.value, o.mod}}
				}
				return nil
			}
			if o.mod <= s.mod {
				return nil
			}
			return []any{register{i.value, o.mod}}
		}
		after := register{i.value, o.mod}
		if i.kind == remove {
			after = register{}
		}
		if o.unknown {
			after.mod = 0
			if i.kind == write {
				after.mod = unknownRevision
			}
			return []any{s, after}
		}
		if i.kind == write && o.mod <= s.mod {
			return nil
		}
		return []any{after}
	},
	Equal: func(a, b any) bool { return a == b },
}

// unknownRevision is the revision of a write without an answer.
const unknownRevision = -1

// crashes is how often TestCrashes kills the server; more often with the tag soak.
var crashes = 10

// TestCrashes kills the server again and again under clients that read and write, and one that
// watches all the time. The clients' answers must be a history of registers that hold the values
// written to them, and the watcher must have seen every write once and in order, including those
// without an answer.
func TestCrashes(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills and restarts a process many times")
	}
	dir := t.TempDir()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	server, address := startServer(t, dir, free[0])
	dial := func() *clientv3.Client {
		c, err := clientv3.New(clientv3.Config{
			Endpoints: []string{address}, MaxUnaryRetries: 1, Logger: zap.NewNop(),
			DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 20 * time.Millisecond},
			})},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	h := &history{acked: map[int64]string{}}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for id := range 8 {
		c := dial()
		clients.Go(func() { h.client(t, c, id, stop) })
	}
	watched := make(chan *witness)
	enough := make(chan int64, 1)
	go func() { watched <- watchAll(t, dial(), enough) }()

	for i := range crashes {
		// In the middle of the work: after further writes were acknowledged.
		want := h.done.Load() + 100 + int64(rand.IntN(300))
		deadline := time.Now().Add(patience)
		for h.done.Load() < want {
			if time.Now().After(deadline) {
				t.Fatalf("crash %d: the clients get nowhere", i)
			}
			time.Sleep(time.Millisecond)
		}
		server.Process.Kill()
		server.Wait()
		server, _ = startServer(t, dir, address)
	}
	close(stop)
	clients.Wait()
	final, err := dial().Get(ctx(t), "r/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	enough <- final.Header.Revision
	w := <-watched

	if res := porcupine.CheckOperationsTimeout(registers.ToModel(), h.ops, 2*patience); res != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(h.ops), res)
	}
	for rev, value := range h.acked {
		if w.values[rev] != value {
			t.Errorf("revision %d was acknowledged as %q, and the watcher saw %q", rev, value, w.values[rev])
		}
	}
	now := map[string]string{}
	for _, kv := range final.Kvs {
		now[string(kv.Key)] = string(kv.Value)
	}
	if fmt.Sprint(now) != fmt.Sprint(w.now) {
		t.Errorf("there is %v, and what the watcher saw makes %v", now, w.now)
	}
	t.Logf("%d crashes, %d operations, %d of them unanswered, %d revisions", crashes, len(h.ops), h.unknown, final.Header.Revision)
}

// history is the operations of the clients.
type history struct {
	done atomic.Int64
	mu   sync.Mutex
	ops  []porcupine.Operation
	// acked are the written values, by revision; a deletion writes "-".
	acked   map[int64]string
	unknown int
}

func (h *history) client(t *testing.T, c *clientv3.Client, id int, stop <-chan struct{}) {
	var seen [8]int64 // revisions of the keys when last seen
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		in := input{key: rand.IntN(len(seen)), kind: rand.IntN(4), value: fmt.Sprintf("%d.%d", id, n)}
		if in.kind == remove && rand.IntN(3) > 0 {
			in.kind = swap
		}
		in.mod = seen[in.key]
		call := time.Now().UnixNano()
		out, rev, err := do(c, in)
		end := time.Now().UnixNano()
		switch {
		case err != nil && in.kind == read:
			continue // no change, no information
		case err != nil:
			out.unknown, end = true, 1<<62
		default:
			h.done.Add(1)
			seen[in.key] = out.mod
		}
		h.mu.Lock()
		h.ops = append(h.ops, porcupine.Operation{ClientId: id, Input: in, Call: call, Output: out, Return: end})
		if out.unknown {
			h.unknown++
		} else if rev > 0 {
			h.acked[rev] = in.value
			if in.kind == remove {
				h.acked[rev] = "-"
			}
		}
		h.mu.Unlock()
		if out.unknown {
			// A client with an operation in progress is busy: a new client goes on.
			id += 100
		}
	}
}

// do performs it, and returns the revision of the write if there was one.
func do(c *clientv3.Client, in input) (out output, rev int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	key := fmt.Sprint("r/", in.key)
	tell := func(kvs []*mvccpb.KeyValue) {
		if len(kvs) > 0 {
			out.value, out.mod = string(kvs[0].Value), kvs[0].ModRevision
		}
	}
	switch in.kind {
	case read:
		r, err := c.Get(ctx, key)
		if err != nil {
			return out, 0, err
		}
		tell(r.Kvs)
	case write:
		r, err := c.Put(ctx, key, in.value)
		if err != nil {
			return out, 0, err
		}
		out.mod, rev = r.Header.Revision, r.Header.Revision
	case remove:
		r, err := c.Delete(ctx, key)
		if err != nil {
			return out, 0, err
		}
		if r.Deleted > 0 {
			rev = r.Header.Revision
		}
	case swap:
		r, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", in.mod)).
			Then(clientv3.OpPut(key, in.value)).Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return out, 0, err
		}
		if out.held = r.Succeeded; out.held {
			out.mod, rev = r.Header.Revision, r.Header.Revision
		} else {
			tell(r.Responses[0].GetResponseRange().Kvs)
		}
	}
	return out, rev, nil
}

// witness is the events that the watcher saw.
type witness struct {
	values map[int64]string
	now    map[string]string
}

// watchAll watches from the start to a given revision, across broken connections. Every write is
// one key, so every revision is one event: it reports one that is missing, or comes twice or too
// early.
func watchAll(t *testing.T, c *clientv3.Client, enough <-chan int64) *witness {
	w := &witness{values: map[int64]string{}, now: map[string]string{}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	last, until := int64(1), int64(1<<62)
	events := c.Watch(ctx, "r/", clientv3.WithPrefix(), clientv3.WithRev(2), clientv3.WithPrevKV())
	for last < until {
		select {
		case until = <-enough:
			continue
		case r := <-events:
			if err := r.Err(); err != nil {
				t.Errorf("the watch at %d: %v", last, err)
				return w
			}
			for _, e := range r.Events {
				if e.Kv.ModRevision != last+1 {
					t.Errorf("the watcher saw revision %d after %d", e.Kv.ModRevision, last)
				}
				last = e.Kv.ModRevision
				key := string(e.Kv.Key)
				prev := ""
				if e.PrevKv != nil {
					prev = string(e.PrevKv.Value)
				}
				if prev != w.now[key] {
					t.Errorf("revision %d: before it %s was %q, the watcher is told %q", last, key, w.now[key], prev)
				}
				if e.Type == mvccpb.Event_DELETE {
					w.values[last] = "-"
					delete(w.now, key)
				} else {
					w.values[last], w.now[key] = string(e.Kv.Value), string(e.Kv.Value)
				}
			}
		case <-time.After(patience):
			t.Errorf("the watcher hangs at revision %d of %d", last, until)
			return w
		}
	}
	return w
}
