package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// requests measures small requests for the pods of one page.
func (c *curve) requests(ctx context.Context, p *point) error {
	idle, err := c.idleRate(ctx)
	if err != nil {
		return err
	}
	pods := "/api/v1/namespaces/" + c.namespace(c.deployed/2) + "/pods"
	var page struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	const size = 500
	if err := c.conn(0).call(ctx, request{path: fmt.Sprintf("%s?limit=%d", pods, size), want: http.StatusOK, read: func(r io.Reader) error {
		return json.NewDecoder(r).Decode(&page)
	}}); err != nil {
		return err
	}
	if len(page.Items) != size {
		return fmt.Errorf("a page has %d pods, want %d", len(page.Items), size)
	}
	path := func(i int) string { return pods + "/" + page.Items[i%size].Metadata.Name }
	for _, m := range []struct {
		to  *float64
		n   int
		req func(i int) request
	}{
		// First, before pods that are smaller or have just changed could be on the page.
		{&p.Page, 100, func(int) request {
			return request{path: fmt.Sprintf("/api/v1/pods?limit=%d", size), want: http.StatusOK}
		}},
		{&p.Get, 10 * size, func(i int) request { return request{path: path(i), want: http.StatusOK} }},
		{&p.Patch, 2 * size, func(i int) request {
			return patchOf(path(i), fmt.Sprint(p.Pods, i))
		}},
		{&p.Create, 2 * size, func(i int) request {
			return request{method: http.MethodPost, path: pods, want: http.StatusCreated, body: fmt.Appendf(nil, `{"metadata": {"name": "new-%d", "labels": {"new": ""}},
				"spec": {"schedulerName": "none", "containers": [{"name": "web", "image": "nginx"}]}}`, i)}
		}},
	} {
		cpu, wall, err := c.spent(func() error {
			return each(ctx, m.n, writers, func(ctx context.Context, i int) error { return c.conn(i).call(ctx, m.req(i)) })
		})
		if err != nil {
			return err
		}
		*m.to = (us(cpu) - idle*us(wall)) / float64(m.n)
	}
	if err := c.conn(0).call(ctx, request{method: http.MethodDelete, path: pods + "?labelSelector=new", want: http.StatusOK}); err != nil {
		return err
	}
	revision, err := c.revision(ctx, pods)
	if err != nil {
		return err
	}
	cpu, wall, late, err := c.fan(ctx, pods+"?watch=1&resourceVersion="+revision, fmt.Sprintf("fan-%d-", p.Pods), path(0))
	if err != nil {
		return err
	}
	p.FanOut, p.FanOutP99 = (us(cpu)-idle*us(wall))/float64(len(late)), ms(late[len(late)*99/100])
	return nil
}

// ownNodes measures patches beside a watcher of each node's pods, as a kubelet is. With many nodes, pods of some are patched.
func (c *curve) ownNodes(ctx context.Context, p *point) error {
	const most = 2000
	n := min(c.nodes, most)
	node := func(i int) string { return fmt.Sprintf("node-%d", i+1) }
	some := func(i int) int { return i * c.nodes / n }
	pods := make([]string, n)
	if err := each(ctx, n, writers, func(ctx context.Context, i int) error {
		var first struct {
			Items []struct {
				Metadata struct{ Namespace, Name string }
			}
		}
		err := c.conn(i).call(ctx, request{
			path: "/api/v1/pods?limit=1&fieldSelector=spec.nodeName%3D" + node(some(i)), want: http.StatusOK,
			read: func(r io.Reader) error { return json.NewDecoder(r).Decode(&first) },
		})
		if err != nil {
			return err
		}
		if len(first.Items) != 1 {
			return fmt.Errorf("%s has no pods", node(some(i)))
		}
		m := first.Items[0].Metadata
		pods[i] = "/api/v1/namespaces/" + m.Namespace + "/pods/" + m.Name
		return nil
	}); err != nil {
		return err
	}
	revision, err := c.revision(ctx, "/api/v1/pods")
	if err != nil {
		return err
	}
	all, done, err := c.watchers(ctx, c.nodes, func(i int) string { return podsOfNode(node(i), revision) })
	if err != nil {
		return err
	}
	defer done()
	open := make([]*frames, n)
	for i := range open {
		open[i] = all[some(i)]
	}
	idle, err := c.idleRate(ctx)
	if err != nil {
		return err
	}
	cpu, wall, late, err := c.patchEach(ctx, open, done, func(i int) string { return pods[i] }, fmt.Sprintf("node-%d-", p.Pods))
	if err != nil {
		return err
	}
	p.OwnNode, p.OwnNodeP99 = (us(cpu)-idle*us(wall))/float64(n), ms(late[n*99/100])
	return nil
}

// listAll measures a list of all pods in protobuf, and the memory that it takes for a time.
func (c *curve) listAll(ctx context.Context, p *point) error {
	process := c.server.processes[0]
	before, err := process.resident()
	if err != nil {
		return err
	}
	// From here on VmHWM is the peak (proc(5)).
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", process.cmd.Process.Pid), []byte("5"), 0); err != nil {
		return err
	}
	begin := time.Now()
	if err := c.conn(0).call(ctx, request{path: "/api/v1/pods", accept: mediaProto, want: http.StatusOK}); err != nil {
		return err
	}
	p.List = time.Since(begin).Seconds()
	peak, err := process.peak()
	p.Growth = float64(max(0, peak-before)) / 1e6
	return err
}

// restart kills the server and starts it again.
func (c *curve) restart(ctx context.Context, p *point) error {
	c.tearDown()
	c.conns = nil
	process := c.server.processes[0]
	if err := process.cmd.Process.Kill(); err != nil {
		return err
	}
	<-process.done
	if err := c.start(ctx); err != nil {
		return err
	}
	p.Restart = c.server.ready.Seconds()
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.untilNodesReady(ctx)
}
