package main

import (
	"fmt"
	"slices"
)

// row is a line of the table.
type row struct {
	key   string
	title func(s *sizes) string
	unit  unit
	// goal is the ratio that the project is after: how many times better
	// Fairlead is to be. 0 for none.
	goal float64
}

type unit struct {
	name     string
	decimals int
	// more says that more is better.
	more bool
}

var (
	seconds   = unit{"s", 3, false}
	millis    = unit{"ms", 1, false}
	micros    = unit{"us", 0, false}
	megabytes = unit{"MB", 1, false}
	kilobytes = unit{"KB", 1, false}
	perSecond = unit{"/s", 0, true}
)

// rows are the table. Goals are what was aimed at when the peer was first
// measured alone: its figure then, divided by what Fairlead's should be.
var rows = []row{
	{"start", is("exec to /readyz ok, empty store"), seconds, 2.3 / 0.1},
	{"idle-memory", is("resident memory, idle after start"), megabytes, 308.0 / 40},
	{"idle-cpu", is("CPU of an idle second"), millis, 0},
	{"idle-watch", count("an idle watch, of %d", func(s *sizes) int { return s.Idle }), kilobytes, 27.0 / 12},
	{"create", is("create pod, 32 writers: CPU"), micros, 1641.0 / 150},
	{"create-rate", is("create pod, 32 writers: rate"), perSecond, 0},
	{"get", is("get pod: CPU"), micros, 432.0 / 60},
	{"get-rate", is("get pod, 32 readers: rate"), perSecond, 0},
	{"patch", is("merge-patch pod, 32 writers: CPU"), micros, 2479.0 / 200},
	{"patch-rate", is("merge-patch pod, 32 writers: rate"), perSecond, 0},
	{"list", pods("LIST %d pods, JSON: CPU"), millis, 525.0 / 45},
	{"list-proto", pods("LIST %d pods, protobuf: CPU"), millis, 309.0 / 40},
	{"list-label", pods("LIST 100 of %d by label: CPU"), millis, 7.1 / 0.7},
	{"list-page", pods("LIST limit=500 of %d, a page: CPU"), millis, 26.9 / 2.5},
	{"watchlist", func(s *sizes) string {
		return fmt.Sprintf("WatchList of %d pods, %d at once: CPU each", s.Pods, s.Streams)
	}, millis, 871.0 / 60},
	{"fan-out", fan("CPU of a delivery"), micros, 29.0 / 6},
	{"fan-out-rate", fan("deliveries"), perSecond, 0},
	{"fan-out-p50", fan("p50 from write to reader"), millis, 0},
	{"fan-out-p99", fan("p99 from write to reader"), millis, 258.0 / 50},
	{"own-node", count("%d watchers of a node each: CPU of a patch", func(s *sizes) int { return s.Nodes }), micros, 3550.0 / 220},
	{"memory", pods("resident memory, %d pods, after all that"), megabytes, 1360.0 / 200},
	{"crowd-list", crowded("LISTs", "memory grows by, each"), kilobytes, 0},
	{"crowd-list-get", crowded("LISTs", "a get meanwhile, p50"), millis, 0},
	{"crowd-proto", crowded("LISTs in protobuf", "memory grows by, each"), kilobytes, 0},
	{"crowd-proto-get", crowded("LISTs in protobuf", "a get meanwhile, p50"), millis, 0},
	{"crowd-watchlist", crowded("WatchLists", "memory grows by, each"), kilobytes, 0},
	{"crowd-watchlist-get", crowded("WatchLists", "a get meanwhile, p50"), millis, 0},
}

func is(title string) func(*sizes) string { return func(*sizes) string { return title } }

func count(format string, n func(*sizes) int) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf(format, n(s)) }
}

func pods(format string) func(*sizes) string {
	return count(format, func(s *sizes) int { return s.Pods })
}

func fan(what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("%d watchers x %d events: %s", s.Watchers, s.Events, what) }
}

func crowded(of, what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("%d %s of %d pods at once: %s", s.Crowd, of, s.Pods, what) }
}

func rowOf(key string) *row {
	i := slices.IndexFunc(rows, func(r row) bool { return r.key == key })
	return &rows[i]
}

func (r *row) format(v float64) string { return r.number(v) + " " + r.unit.name }

func (r *row) number(v float64) string {
	decimals := r.unit.decimals
	if v != 0 && v < 10 {
		decimals = max(decimals, 2)
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// ratio is how many times better ours is than the peer's.
func (r *row) ratio(ours, peers float64) float64 {
	if r.unit.more {
		ours, peers = peers, ours
	}
	if ours == 0 {
		return 0
	}
	return peers / ours
}
