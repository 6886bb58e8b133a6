package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// load is something to do to a server.
type load struct {
	name string
	// pods reports whether it needs the pods in the store.
	pods bool
	// asked: it runs only if it is named, since it takes long.
	asked bool
	// below reports whether the peers are schedulers on a server of Fairlead.
	below bool
	// limited: the servers limit requests as they do by default.
	limited bool
	// nodes is how many simulated nodes it needs, and with them controllers and a
	// scheduler; nil for a load of the API server alone.
	nodes func(s *sizes) int
	run   func(ctx context.Context, b *bench) ([]figure, error)
}

// loads are in the order in which they run: those that need an empty server first, and
// memory after all loads last; then those of whole control planes.
var loads = []load{
	{name: "start", run: start},
	{name: "idle", run: idle},
	{name: "idle-watch", run: idleWatches},
	{name: "create", run: create},
	{name: "get", pods: true, run: get},
	{name: "patch", pods: true, run: patch},
	{name: "renew", run: renew},
	{name: "list", pods: true, run: listJSON},
	{name: "list-proto", pods: true, run: listProto},
	{name: "list-label", pods: true, run: listLabel},
	{name: "list-page", pods: true, run: listPage},
	{name: "watchlist", pods: true, run: watchList},
	{name: "fan-out", pods: true, run: fanOut},
	{name: "own-node", pods: true, run: ownNode},
	{name: "memory", pods: true, run: memory},
	{name: "crowd", pods: true, asked: true, run: crowd},
	{name: "definitions", asked: true, run: definitions},
	{name: "mixed", pods: true, asked: true, limited: true, run: mixed},
	{name: "replicas", nodes: hosts, run: replicas},
	{name: "scale", nodes: hosts, run: scale},
	{name: "rollout", nodes: hosts, run: rollout},
	{name: "namespace", nodes: hosts, run: emptied},
	{name: "wide", nodes: func(s *sizes) int { return s.WideHosts }, run: wide},
	{name: "leases", nodes: func(s *sizes) int { return s.Beating }, run: leases},
	{name: "plain", below: true, nodes: scheduledHosts, run: plain},
	{name: "claims", below: true, nodes: scheduledHosts, run: claims},
}

func hosts(s *sizes) int          { return s.Hosts }
func scheduledHosts(s *sizes) int { return s.ScheduledHosts }

func loadNames() []string {
	var names []string
	for _, l := range loads {
		names = append(names, l.name)
	}
	return names
}

// selectLoads keeps the order of loads, whatever the order of the names.
func selectLoads(names string) ([]load, error) {
	switch names {
	case "all":
		return slices.DeleteFunc(slices.Clone(loads), func(l load) bool { return l.asked || l.nodes != nil }), nil
	case "cluster":
		return slices.DeleteFunc(slices.Clone(loads), func(l load) bool { return l.nodes == nil || l.below }), nil
	case "schedulers":
		return slices.DeleteFunc(slices.Clone(loads), func(l load) bool { return !l.below }), nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.Contains(loadNames(), name) {
			return nil, fmt.Errorf("-loads: there is no load %q; all are: %s", name, strings.Join(loadNames(), ", "))
		}
	}
	var picked []load
	for _, l := range loads {
		if slices.Contains(wanted, l.name) {
			picked = append(picked, l)
		}
	}
	return picked, nil
}

// act is loads that one start of a server is for: of its API alone if nodes is 0, else of
// a whole control plane with so many nodes, or of a scheduler below one.
type act struct {
	nodes          int
	below, limited bool
	loads          []load
}

func acts(loads []load, s *sizes) (all []act) {
	for _, l := range loads {
		nodes := 0
		if l.nodes != nil {
			nodes = l.nodes(s)
		}
		if n := len(all); n == 0 || all[n-1].nodes != nodes || all[n-1].below != l.below || all[n-1].limited != l.limited {
			all = append(all, act{nodes: nodes, below: l.below, limited: l.limited})
		}
		last := &all[len(all)-1]
		last.loads = append(last.loads, l)
	}
	return all
}
