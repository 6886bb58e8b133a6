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
	// goal is the wanted ratio: how many times better Fairlead should be. 0 means no goal.
	goal float64
	// limit is the maximum that Fairlead should need, in the unit of the row and for the sizes
	// of full. 0 means no limit.
	limit float64
}

type unit struct {
	name     string
	decimals int
	// more reports whether more is better.
	more bool
}

var (
	seconds   = unit{"s", 3, false}
	millis    = unit{"ms", 1, false}
	micros    = unit{"us", 0, false}
	megabytes = unit{"MB", 1, false}
	kilobytes = unit{"KB", 1, false}
	perSecond = unit{"/s", 0, true}
	cores     = unit{"cores", 2, false}
	percent   = unit{"%", 0, false}
)

// rows are the table. A goal is the peer's figure when it was first measured alone, divided
// by the figure wanted of Fairlead.
var rows = []row{
	{"start", is("exec to /readyz ok, empty store"), seconds, 2.3 / 0.1, 0},
	{"idle-memory", is("resident memory, idle after start"), megabytes, 308.0 / 40, 0},
	{"idle-cpu", is("CPU of an idle second"), millis, 0, 0},
	{"idle-watch", count("an idle watch, of %d", func(s *sizes) int { return s.Idle }), kilobytes, 27.0 / 12, 0},
	{"create", is("create pod, 32 writers: CPU"), micros, 1641.0 / 150, 0},
	{"create-rate", is("create pod, 32 writers: rate"), perSecond, 0, 0},
	{"create-etcd", is("create pod, 32 writers: etcd's part of the CPU"), percent, 0, 0},
	{"get", is("get pod: CPU"), micros, 432.0 / 60, 0},
	{"get-rate", is("get pod, 32 readers: rate"), perSecond, 0, 0},
	{"get-etcd", is("get pod: etcd's part of the CPU"), percent, 0, 0},
	{"patch", is("merge-patch pod, 32 writers: CPU"), micros, 2479.0 / 200, 0},
	{"patch-rate", is("merge-patch pod, 32 writers: rate"), perSecond, 0, 0},
	{"patch-etcd", is("merge-patch pod, 32 writers: etcd's part of the CPU"), percent, 0, 0},
	{"renew", is("renew a Lease, 32 writers: CPU"), micros, 0, 0},
	{"renew-rate", is("renew a Lease, 32 writers: rate"), perSecond, 0, 0},
	{"renew-etcd", is("renew a Lease, 32 writers: etcd's part of the CPU"), percent, 0, 0},
	{"list", pods("LIST %d pods, JSON: CPU"), millis, 525.0 / 45, 0},
	{"list-proto", pods("LIST %d pods, protobuf: CPU"), millis, 309.0 / 40, 0},
	{"list-label", pods("LIST 100 of %d by label: CPU"), millis, 7.1 / 0.7, 0},
	{"list-page", pods("LIST limit=500 of %d, a page: CPU"), millis, 26.9 / 2.5, 0},
	{"watchlist", func(s *sizes) string {
		return fmt.Sprintf("WatchList of %d pods, %d at once: CPU each", s.Pods, s.Streams)
	}, millis, 871.0 / 60, 0},
	{"fan-out", fan("CPU of a delivery"), micros, 29.0 / 6, 0},
	{"fan-out-rate", fan("deliveries"), perSecond, 0, 0},
	{"fan-out-p50", fan("p50 from write to reader"), millis, 0, 0},
	{"fan-out-p99", fan("p99 from write to reader"), millis, 258.0 / 50, 0},
	{"own-node", count("%d watchers of a node each: CPU of a patch", func(s *sizes) int { return s.Nodes }), micros, 3550.0 / 220, 0},
	{"memory", pods("resident memory, %d pods, after all that"), megabytes, 1360.0 / 200, 0},
	{"crowd-list", crowded("LISTs", "memory grows by, each"), kilobytes, 0, 0},
	{"crowd-list-get", crowded("LISTs", "a get meanwhile, p50"), millis, 0, 0},
	{"crowd-proto", crowded("LISTs in protobuf", "memory grows by, each"), kilobytes, 0, 0},
	{"crowd-proto-get", crowded("LISTs in protobuf", "a get meanwhile, p50"), millis, 0, 0},
	{"crowd-watchlist", crowded("WatchLists", "memory grows by, each"), kilobytes, 0, 0},
	{"crowd-watchlist-get", crowded("WatchLists", "a get meanwhile, p50"), millis, 0, 0},
	{"definitions", count("%d CRDs: CPU of each until it is served", func(s *sizes) int { return s.Definitions }), millis, 0, 0},
	{"definitions-memory", is("... resident memory then"), megabytes, 0, 0},
	{"explain", is("... /openapi/v3 and one group of it, as kubectl explain asks"), millis, 0, 0},
	{"openapi", is("... /openapi/v2"), seconds, 0, 0},
	{"openapi-peak", is("... memory grows meanwhile by"), megabytes, 0, 0},
	{"openapi-kept", is("... of that a minute later"), megabytes, 0, 0},
	{"mixed-p50", mixture("p50"), millis, 0, 0},
	{"mixed-p99", mixture("p99"), millis, 0, 0},
	{"mixed-p999", mixture("p99.9"), millis, 0, 50},
	{"mixed-most", mixture("the longest"), millis, 0, 0},
	{"mixed-storm-p50", stormy("p50"), millis, 0, 0},
	{"mixed-storm-p99", stormy("p99"), millis, 0, 0},
	{"mixed-storm-p999", stormy("p99.9"), millis, 0, 50},
	{"mixed-storm-most", stormy("the longest"), millis, 0, 0},
	{"mixed-storm-lists", stormy("lists"), perSecond, 0, 0},
	{"replicas-bound", deployed("until all are bound"), seconds, 7.1 / 0.7, 0.7},
	{"replicas-running", deployed("until all run"), seconds, 0, 1},
	{"replicas-cpu", deployed("CPU of a pod"), micros, 4600.0 / 400, 400},
	{"replicas-nodes", deployed("CPU of a pod, nodes apart"), micros, 0, 0},
	{"scale", scaledDown("until the pods are gone"), seconds, 0, 0},
	{"scale-cpu", scaledDown("CPU of a pod"), micros, 0, 0},
	{"scale-nodes", scaledDown("CPU of a pod, nodes apart"), micros, 0, 0},
	{"rollout", rolled("until all run"), seconds, 0, 0},
	{"rollout-cpu", rolled("CPU of a pod"), micros, 0, 0},
	{"rollout-nodes", rolled("CPU of a pod, nodes apart"), micros, 0, 0},
	{"namespace", doomed("until it is gone"), seconds, 0, 3},
	{"namespace-cpu", doomed("CPU of a pod"), micros, 0, 0},
	{"namespace-nodes", doomed("CPU of a pod, nodes apart"), micros, 0, 0},
	{"wide-bound", spreadWide("until all are bound"), seconds, 0, 0},
	{"wide-running", spreadWide("until all run"), seconds, 0, 8},
	{"wide-cpu", spreadWide("CPU of a pod"), micros, 0, 0},
	{"wide-nodes", spreadWide("CPU of a pod, nodes apart"), micros, 0, 0},
	{"leases", count("leases of %d nodes: processors busy", func(s *sizes) int { return s.Beating }), cores, 0, 0.5},
	{"leases-nodes", count("leases of %d nodes: processors busy, nodes apart", func(s *sizes) int { return s.Beating }), cores, 0, 0},
	{"plain-rate", scheduledPlain("bound"), perSecond, 0, 0},
	{"plain-cpu", scheduledPlain("the scheduler's CPU of a pod"), micros, 0, 0},
	{"plain-server", scheduledPlain("the server's CPU of a pod"), micros, 0, 0},
	{"claims-rate", scheduledClaims("bound"), perSecond, 0, 0},
	{"claims-cpu", scheduledClaims("the scheduler's CPU of a pod"), micros, 0, 0},
	{"claims-server", scheduledClaims("the server's CPU of a pod"), micros, 0, 0},
}

// onEtcd are the wanted ratios of servers on etcd members, where those of the table do not hold.
var onEtcd = map[string]float64{"create": 3, "patch": 5, "get": 8}

func (r *row) goals(l layout) (ratio, limit float64) {
	if l.Members > 0 {
		return onEtcd[r.key], 0
	}
	return r.goal, r.limit
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

func mixture(what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("%d small requests a second: %s", s.Rate, what) }
}

func stormy(what string) func(*sizes) string {
	return func(s *sizes) string {
		return fmt.Sprintf("... while %d clients list all %d pods: %s", stormClients, s.Pods, what)
	}
}

func deployed(what string) func(*sizes) string {
	return func(s *sizes) string {
		return fmt.Sprintf("Deployment of %d on %d nodes: %s", s.Replicas, s.Hosts, what)
	}
}

func scaledDown(what string) func(*sizes) string {
	return func(s *sizes) string {
		return fmt.Sprintf("scaled from %d to %d: %s", s.Replicas, s.Rolled, what)
	}
}

func rolled(what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("rolling update of %d: %s", s.Rolled, what) }
}

func doomed(what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("namespace of %d pods deleted: %s", s.Doomed, what) }
}

func spreadWide(what string) func(*sizes) string {
	return func(s *sizes) string { return fmt.Sprintf("%d pods on %d nodes: %s", s.Wide, s.WideHosts, what) }
}

func scheduledPlain(what string) func(*sizes) string {
	return func(s *sizes) string {
		return fmt.Sprintf("schedulers, %d pods on %d nodes: %s", s.Plain, s.ScheduledHosts, what)
	}
}

func scheduledClaims(what string) func(*sizes) string {
	return func(s *sizes) string {
		return fmt.Sprintf("schedulers, %d pods with claims on %d nodes: %s", s.Claims, s.ScheduledHosts, what)
	}
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
