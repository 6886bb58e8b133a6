package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The noisy tenant: lists that run at once, writes that are offered in a second, and watches.
const (
	tenantLists   = 2000
	tenantWrites  = 5000
	tenantWatches = 20000
)

// tenant measures a neighbour, an account of another namespace, alone and beside a tenant who lists, writes and watches as much as
// it can. While the tenant does so, it also measures a neighbour of a server that has no tenant: the difference between the two is
// the server's, and the rest that of a machine on which all of them run.
func tenant(ctx context.Context, s *server) string {
	token, err := s.neighbour(ctx)
	if err != nil {
		return err.Error()
	}
	other, err := s.twin(ctx)
	if err != nil {
		return err.Error()
	}
	defer other.stop()
	otherToken, err := other.neighbour(ctx)
	if err != nil {
		return err.Error()
	}
	quiet, err := s.aside(ctx, token, 5*time.Second)
	if err != nil {
		return err.Error()
	}
	if err := schedule(unix.SCHED_IDLE, 0); err != nil {
		return err.Error()
	}
	defer schedule(unix.SCHED_NORMAL, 0)
	noise, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var watches atomic.Int64
	var listed, wrote outcomes
	wg.Go(func() { s.openWatches(noise, &watches) })
	for end := time.Now().Add(40 * time.Second); watches.Load() < tenantWatches && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	opened := watches.Load()
	wg.Go(func() { s.listAtOnce(noise, &listed) })
	wg.Go(func() { s.offerWrites(noise, &wrote) })
	time.Sleep(3 * time.Second)
	beside, err := s.aside(ctx, token, 10*time.Second)
	var elsewhere lived
	if err == nil {
		elsewhere, err = other.aside(ctx, otherToken, 10*time.Second)
	}
	stop()
	wg.Wait()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("lists: %s; writes: %s; %d watches; the neighbour's p50, p99, failed: reads %s (quiet %s, of another server %s), writes %s (quiet %s, of another server %s)",
		&listed, &wrote, opened, beside.Reads, quiet.Reads, elsewhere.Reads, beside.Writes, quiet.Writes, elsewhere.Writes)
}

// lived are the requests of a neighbour.
type lived struct{ Reads, Writes times }

// neighbourVariable makes this program the neighbour: its value is the server, the token and the time, separated by spaces.
const neighbourVariable = "ATTACK_NEIGHBOUR"

// aside runs the neighbour as a process of its own, as clients are.
func (s *server) aside(ctx context.Context, token string, long time.Duration) (l lived, err error) {
	self, err := os.Executable()
	if err != nil {
		return l, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env, cmd.Stderr = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", neighbourVariable, s.url, token, long)), os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &l)
	}
	return l, err
}

// beNeighbour lives as the variable says, and prints what it has lived.
func beNeighbour(ctx context.Context, variable string) error {
	var s server
	var token, long string
	if _, err := fmt.Sscan(variable, &s.url, &token, &long); err != nil {
		return err
	}
	d, err := time.ParseDuration(long)
	if err != nil {
		return err
	}
	if err := schedule(unix.SCHED_FIFO, 1); err != nil {
		return fmt.Errorf("cannot run before the others: %w", err)
	}
	var l lived
	l.Reads, l.Writes = s.live(ctx, token, d)
	return json.NewEncoder(os.Stdout).Encode(l)
}

// schedule sets the policy by which the kernel runs the threads of this process; its children inherit it. The tenant runs only
// where no other process would (SCHED_IDLE), and the neighbour before all others (SCHED_FIFO), since each would have a machine
// of its own. It needs CAP_SYS_NICE.
func schedule(policy, priority uint32) error {
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: priority}
	threads, err := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		id, _ := strconv.Atoi(t.Name())
		if failed := unix.SchedSetAttr(id, &attributes, 0); failed != nil && failed != unix.ESRCH {
			err = failed
		}
	}
	return err
}

// neighbour makes an account that may read and write in the namespace calm, and returns its token.
func (s *server) neighbour(ctx context.Context) (string, error) {
	if _, err := s.must(ctx, "POST", "/api/v1/namespaces", `{"metadata":{"name":"calm"}}`); err != nil {
		return "", err
	}
	const calm = "/api/v1/namespaces/calm/"
	for _, one := range []struct{ path, body string }{
		{calm + "serviceaccounts", `{"metadata":{"name":"alice"}}`},
		{calm + "configmaps", `{"metadata":{"name":"small"},"data":{"a":"b"}}`},
		{"/apis/rbac.authorization.k8s.io/v1/namespaces/calm/rolebindings", `{"metadata":{"name":"alice"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","name":"alice","namespace":"calm"}]}`},
	} {
		if _, err := s.must(ctx, "POST", one.path, one.body); err != nil {
			return "", err
		}
	}
	data, err := s.must(ctx, "POST", calm+"serviceaccounts/alice/token", `{"spec":{"expirationSeconds":3600}}`)
	if err != nil {
		return "", err
	}
	var answer struct{ Status struct{ Token string } }
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", err
	}
	c := newClient(nil)
	for range 100 { // until the authorizer has the role
		if code, _, err := s.call(ctx, c, answer.Status.Token, "GET", calm+"configmaps/small", "application/json", nil); err == nil && code == http.StatusOK {
			return answer.Status.Token, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", fmt.Errorf("the neighbour has no rights")
}

// live reads and writes something small with four requests at once for a while. One that takes ten seconds has failed.
func (s *server) live(ctx context.Context, token string, long time.Duration) (reads, writes times) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	c := newClient(nil)
	const object = "/api/v1/namespaces/calm/configmaps/small"
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				one, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
				began := time.Now()
				code, got := 0, &reads
				var err error
				if n%2 == 0 {
					code, _, err = s.call(one, c, token, "GET", object, "application/json", nil)
				} else {
					got = &writes
					code, _, err = s.call(one, c, token, "PATCH", object, "application/merge-patch+json", fmt.Appendf(nil, `{"data":{"k%d":"%d"}}`, i, n))
				}
				took := time.Since(began)
				cancel()
				mu.Lock()
				if err != nil || code != http.StatusOK {
					got.Failed++
				} else {
					got.Took = append(got.Took, took)
				}
				mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	return reads, writes
}

// openWatches opens watches of one object each, which nothing writes, and keeps them.
func (s *server) openWatches(ctx context.Context, opened *atomic.Int64) {
	var wg sync.WaitGroup
	const each = 100 // streams of a connection
	next := make(chan int)
	for range 16 {
		wg.Go(func() {
			for group := range next {
				c := newClient(nil)
				for i := range each {
					req, _ := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s%s?watch=1&fieldSelector=metadata.name=none-%d-%d", s.url, configMaps, group, i), nil)
					req.Header.Set("Authorization", "Bearer "+s.mallory)
					resp, err := c.Do(req)
					if err != nil {
						continue
					}
					if resp.StatusCode != http.StatusOK {
						resp.Body.Close()
						continue
					}
					opened.Add(1)
					wg.Go(func() {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					})
				}
			}
		})
	}
	for group := range tenantWatches / each {
		next <- group
	}
	close(next)
	wg.Wait()
}

// listAtOnce lists from tenantLists goroutines.
func (s *server) listAtOnce(ctx context.Context, o *outcomes) {
	var wg sync.WaitGroup
	for range 20 {
		c := newClient(nil)
		for range tenantLists / 20 {
			wg.Go(func() {
				for ctx.Err() == nil {
					code, _, err := s.call(ctx, c, s.mallory, "GET", configMaps, "application/json", nil)
					if err == nil {
						o.add(fmt.Sprint(code))
					}
					if code == http.StatusTooManyRequests {
						time.Sleep(time.Second) // the time of Retry-After
					}
				}
			})
		}
	}
	wg.Wait()
}

// offerWrites offers tenantWrites creates in a second, of which as many run at once as get an answer.
func (s *server) offerWrites(ctx context.Context, o *outcomes) {
	var wg sync.WaitGroup
	offered := make(chan int)
	for range 512 {
		c := newClient(nil)
		wg.Go(func() {
			for n := range offered {
				code, _, err := s.call(ctx, c, s.mallory, "POST", configMaps, "application/json", fmt.Appendf(nil, `{"metadata":{"name":"t-%d"}}`, n))
				if err == nil {
					o.add(fmt.Sprint(code))
				}
			}
		})
	}
	const every = 10 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-tick.C:
			for range tenantWrites / int(time.Second/every) {
				select {
				case offered <- n:
				default: // all are busy
				}
				n++
			}
		}
	}
	close(offered)
	wg.Wait()
}
