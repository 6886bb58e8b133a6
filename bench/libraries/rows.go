package main

import "fmt"

// row is a job, and the figures to show of it.
type row struct {
	job
	name  string
	shown []shown
}

// shown is a figure as the report has it.
type shown struct {
	key, what, unit string
	scale           float64 // a unit's size in the figure's unit
	more            bool    // is better
	goal            float64 // how many times better than client-go
}

// sizes are how much work each row is.
type sizes struct {
	pods   []int // of the first list
	events int
	items  int    // of queues
	config string // a kubeconfig of the server to list from; empty for a tape
}

func informerCost(goal float64) []shown {
	return []shown{
		{"cpu", "CPU an event", "us", 1e3, false, goal},
		{"rate", "events/s", "k/s", 1e3, true, goal},
		{"allocs", "allocations an event", "", 1, false, 1},
		{"bytes", "allocated an event", "KB", 1e3, false, 1},
	}
}

func queueCost(what string, goal float64) []shown {
	return []shown{
		{"cpu", "CPU " + what, "ns", 1, false, goal},
		{"rate", "rate", "k/s", 1e3, true, goal},
		{"allocs", "allocations", "", 1, false, 1},
	}
}

// rows returns all rows by their group.
func (s sizes) rows() []row {
	var all []row
	for _, proto := range []bool{false, true} {
		enc := "JSON"
		if proto {
			enc = "protobuf"
		}
		for _, pods := range s.pods {
			all = append(all, row{job{Row: "sync", Proto: proto, Pods: pods, Config: s.config}, fmt.Sprintf("first list of %d pods, %s", pods, enc), []shown{
				{"time", "time", "s", 1, false, 1},
				{"cpu", "CPU", "s", 1, false, 3},
				{"peak", "peak resident memory", "MB", 1 << 20, false, 2},
				{"resident", "resident memory", "MB", 1 << 20, false, 2},
				{"heap", "memory in use", "MB", 1 << 20, false, 2},
				{"allocs", "allocations a pod", "", 1, false, 1},
			}})
		}
		if s.config != "" {
			continue
		}
		for _, handlers := range []int{1, 10, 100} {
			all = append(all, row{job{Row: "events", Proto: proto, Pods: 1000, Handlers: handlers, N: s.events},
				fmt.Sprintf("updates to %d handlers, %s", handlers, enc), informerCost(3)})
		}
		all = append(all, row{job{Row: "pipeline", Proto: proto, Pods: s.events, Workers: 4, N: s.events},
			"updates through handler, queue and 4 workers, " + enc, informerCost(3)})
	}
	if s.config != "" {
		return all
	}
	all = append(all, row{job{Row: "lookups", Proto: true, Pods: 10000, N: s.items / 50}, "copy of 10000 pods", []shown{
		{"get.cpu", "CPU a look-up by name", "ns", 1, false, 1},
		{"get.allocs", "allocations", "", 1, false, 1},
		{"index.cpu", "CPU a look-up of 100 by index", "us", 1e3, false, 1},
		{"index.allocs", "allocations", "", 1, false, 1},
		{"namespace.cpu", "CPU a list of a namespace's 500", "us", 1e3, false, 1},
		{"namespace.allocs", "allocations", "", 1, false, 1},
	}})
	for _, workers := range []int{1, 4, 16, 64} {
		all = append(all, row{job{Row: "queue", Workers: workers, N: s.items},
			fmt.Sprintf("queue with %d workers", workers), queueCost("of add, get, done", 3)})
	}
	all = append(all,
		row{job{Row: "delayed", N: s.items}, "queue, added after 1 ms", queueCost("of add, get, done", 3)},
		row{job{Row: "limited", N: s.items}, "queue, added again at a key's rate", queueCost("of add, get, forget, done", 3)})
	return all
}
