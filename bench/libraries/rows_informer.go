package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// kept is the copy, alive to the end.
var kept copied

// informer starts the library's informer of the job's server.
func (j job) informer(lib library, updates []func(*corev1.Pod)) copied {
	kept = lib.informer(j.config(), updates)
	return kept
}

// measureSync is the first list, from the start to a complete copy.
func measureSync(j job, lib library) figures {
	cpu, at := cpuTime(), time.Now()
	before, _ := allocated()
	c := j.informer(lib, nil)
	f := figures{"time": time.Since(at).Seconds(), "cpu": (cpuTime() - cpu).Seconds()}
	after, _ := allocated()
	f["allocs"] = float64(after-before) / float64(j.Pods)
	f["peak"] = status("VmHWM:")
	f["resident"] = resident()
	f["heap"] = live()
	if n := c.len(); n != j.Pods {
		panic(fmt.Sprintf("%d pods of %d", n, j.Pods))
	}
	return f
}

// measureEvents is updates of pods on their way from the wire to a number of handlers.
func measureEvents(j job, lib library) figures {
	ended := make(chan struct{}, j.Handlers)
	updates := make([]func(*corev1.Pod), j.Handlers)
	for i := range updates {
		seen := 0
		updates[i] = func(*corev1.Pod) {
			if seen++; seen == j.warm() || seen == j.warm()+j.N {
				ended <- struct{}{}
			}
		}
	}
	j.informer(lib, updates)
	return j.play(ended, j.Handlers)
}

// measurePipeline measures updates on their way through a handler, a queue and one of its
// workers, which looks the pod up: all of a controller except its own work. Each pod is
// updated once, so that the queue does not merge updates.
func measurePipeline(j job, lib library) figures {
	var (
		q     = lib.queue()
		c     copied
		ready = make(chan struct{})
		seen  atomic.Int64
		ended = make(chan struct{}, 1)
	)
	for range j.Workers {
		go func() {
			<-ready
			q.work(func(k key) bool {
				if c.get(k.Namespace, k.Name) == nil {
					panic(k)
				}
				q.Forget(k)
				if n := int(seen.Add(1)); n == j.warm() || n == j.warm()+j.N {
					ended <- struct{}{}
				}
				return true
			})
		}()
	}
	c = j.informer(lib, []func(*corev1.Pod){func(p *corev1.Pod) { q.Add(key{p.Namespace, p.Name}) }})
	close(ready)
	return j.play(ended, 1)
}

// warm is how many events come before those that are measured.
func (j job) warm() int { return j.N / 10 }

// play asks the server for events, and measures until that many parties have ended.
func (j job) play(ended <-chan struct{}, parties int) figures {
	ask := func(n int) {
		res := must(http.Post(fmt.Sprintf("%s/play?events=%d", j.URL, n), "", nil))
		res.Body.Close()
		for range parties {
			<-ended
		}
	}
	ask(j.warm())
	m := startMeter()
	ask(j.N)
	return m.perOp(j.N)
}

// measureLookups asks the copy for pods, by one goroutine.
func measureLookups(j job, lib library) figures {
	c := j.informer(lib, nil)
	f := figures{}
	each := func(name string, n int, ask func(i int)) {
		ask(0)
		m := startMeter()
		for i := range n {
			ask(i)
		}
		for k, v := range m.perOp(n) {
			f[name+"."+k] = v
		}
	}
	names, spaces, nodes := make([]string, j.Pods), make([]string, j.Pods), make([]string, j.Pods/100)
	for i := range j.Pods {
		names[i], spaces[i], nodes[i/100] = podName(i), podSpace(i), nodeName(i)
	}
	each("get", 100*j.N, func(i int) {
		i = i * 7919 % j.Pods
		if c.get(spaces[i], names[i]) == nil {
			panic(names[i])
		}
	})
	each("index", j.N, func(i int) {
		if n := c.onNode(nodes[i%len(nodes)]); n != 100 {
			panic(n)
		}
	})
	each("namespace", j.N, func(i int) {
		if n := c.inNamespace(spaces[i%20]); n != j.Pods/20 {
			panic(n)
		}
	})
	return f
}
