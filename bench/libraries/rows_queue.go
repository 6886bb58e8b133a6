package main

import (
	"fmt"
	"sync"
)

// someKeys are as many as n, a thousand namespaces of them.
func someKeys(n int) []key {
	keys := make([]key, n)
	for i := range keys {
		keys[i] = key{fmt.Sprintf("shop-%04d", i%1000), fmt.Sprintf("web-%08d", i)}
	}
	return keys
}

// measureQueue moves different keys from one adder to a number of workers.
func measureQueue(j job, lib library) figures {
	keys := someKeys(j.N)
	q := lib.queue()
	m := startMeter()
	var working sync.WaitGroup
	for range j.Workers {
		working.Go(func() { q.work(func(key) bool { return true }) })
	}
	for _, k := range keys {
		q.Add(k)
	}
	q.Close()
	working.Wait()
	return m.perOp(j.N)
}

// measureWaiting adds keys with a delay, and works on them until all are done.
func measureWaiting(j job, lib library, add func(queue, key)) figures {
	keys := someKeys(j.N)
	q := lib.queue()
	m := startMeter()
	go func() {
		for _, k := range keys {
			add(q, k)
		}
	}()
	left := len(keys)
	q.work(func(k key) bool {
		q.Forget(k)
		left--
		return left > 0
	})
	return m.perOp(j.N)
}
