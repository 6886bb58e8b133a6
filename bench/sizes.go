package main

import (
	"flag"
	"fmt"
)

// sizes are how much of everything the loads do.
type sizes struct {
	Pods        int `json:"pods"`        // in the store while it is read
	Gets        int `json:"gets"`        // single reads
	Patches     int `json:"patches"`     // merge patches, and writers' turns
	Lists       int `json:"lists"`       // of all pods, in each encoding
	Selected    int `json:"selected"`    // lists by label
	Walks       int `json:"walks"`       // through all pages of 500
	Streams     int `json:"streams"`     // WatchLists at once
	Watchers    int `json:"watchers"`    // of one fan-out
	Events      int `json:"events"`      // that each of them sees
	Nodes       int `json:"nodes"`       // watchers of a node's own pods
	Idle        int `json:"idle"`        // watches without events
	PerConn     int `json:"perConn"`     // watches on one connection
	Crowd       int `json:"crowd"`       // lists at once, on a connection each
	Minutes     int `json:"minutes"`     // of mixed requests
	Definitions int `json:"definitions"` // CRDs
	Rate        int `json:"rate"`        // of mixed requests, a second

	Hosts     int `json:"hosts"`     // simulated nodes of the loads up to deletion
	Replicas  int `json:"replicas"`  // of the Deployment that is created
	Rolled    int `json:"rolled"`    // of them left when it is updated
	Doomed    int `json:"doomed"`    // pods in the namespace that is deleted
	WideHosts int `json:"wideHosts"` // simulated nodes of the larger cluster
	Wide      int `json:"wide"`      // pods on them
	Beating   int `json:"beating"`   // nodes whose leases are looked at
	Beats     int `json:"beats"`     // seconds that they are looked at

	ScheduledHosts int `json:"scheduledHosts"` // simulated nodes of the loads of schedulers, with devices
	Plain          int `json:"plain"`          // pods without claims
	Claims         int `json:"claims"`         // pods with a claim each, after them
}

// small fits a side-by-side run of three rounds into ten minutes.
var small = sizes{
	Pods: 2000, Gets: 5000, Patches: 2000, Lists: 10, Selected: 200, Walks: 10, Streams: 20,
	Watchers: 500, Events: 100, Nodes: 1000, Idle: 2000, PerConn: 50, Crowd: 100, Definitions: 50, Minutes: 2, Rate: 200,
	Hosts: 50, Replicas: 500, Rolled: 250, Doomed: 500, WideHosts: 200, Wide: 1000, Beating: 1000, Beats: 20,
	ScheduledHosts: 200, Plain: 1000, Claims: 1000,
}

// full are the sizes for which the goals are stated.
var full = sizes{
	Pods: 10000, Gets: 20000, Patches: 10000, Lists: 10, Selected: 500, Walks: 5, Streams: 20,
	Watchers: 500, Events: 200, Nodes: 2000, Idle: 4000, PerConn: 50, Crowd: 1000, Definitions: 490, Minutes: 60, Rate: 200,
	Hosts: 100, Replicas: 2000, Rolled: 1000, Doomed: 5000, WideHosts: 1000, Wide: 10000, Beating: 10000, Beats: 30,
	ScheduledHosts: 1000, Plain: 10000, Claims: 7500,
}

// fields are the sizes by the names of their flags.
func (s *sizes) fields() []struct {
	name, usage string
	at          *int
} {
	return []struct {
		name, usage string
		at          *int
	}{
		{"pods", "pods in the store", &s.Pods},
		{"gets", "single reads", &s.Gets},
		{"patches", "merge patches", &s.Patches},
		{"lists", "lists of all pods in each encoding", &s.Lists},
		{"selected", "lists of 100 pods by label", &s.Selected},
		{"walks", "walks through all pods in pages of 500", &s.Walks},
		{"streams", "WatchLists at once", &s.Streams},
		{"watchers", "watchers of the fan-out", &s.Watchers},
		{"events", "events that each of them sees", &s.Events},
		{"nodes", "watchers that watch one node's pods each", &s.Nodes},
		{"idle", "idle watches", &s.Idle},
		{"per-conn", "watches on one connection", &s.PerConn},
		{"crowd", "lists of all pods at once, and WatchLists", &s.Crowd},
		{"definitions", "CRDs of definitions", &s.Definitions},
		{"minutes", "minutes of mixed", &s.Minutes},
		{"rate", "requests of mixed a second", &s.Rate},
		{"hosts", "simulated nodes of replicas, scale, rollout and namespace", &s.Hosts},
		{"replicas", "replicas of the Deployment", &s.Replicas},
		{"rolled", "replicas that it is scaled to, and then updated", &s.Rolled},
		{"doomed", "pods in the namespace that is deleted", &s.Doomed},
		{"wide-hosts", "simulated nodes of wide", &s.WideHosts},
		{"wide", "pods of wide", &s.Wide},
		{"beating", "simulated nodes of leases", &s.Beating},
		{"scheduled-hosts", fmt.Sprintf("simulated nodes of plain and claims, with %d devices each", devicesPerNode), &s.ScheduledHosts},
		{"plain", "pods of plain", &s.Plain},
		{"claims", "pods of claims, each with a device", &s.Claims},
		{"beats", "seconds of leases; each node renews its own every ten", &s.Beats},
	}
}

func (s *sizes) register(f *flag.FlagSet) {
	for _, x := range s.fields() {
		f.IntVar(x.at, x.name, *x.at, x.usage)
	}
}

// raised is full with the command line's settings.
func (s *sizes) raised(f *flag.FlagSet) sizes {
	set := map[string]bool{}
	f.Visit(func(g *flag.Flag) { set[g.Name] = true })
	r := full
	for i, x := range r.fields() {
		if set[x.name] {
			*x.at = *s.fields()[i].at
		}
	}
	return r
}

func (s *sizes) check() error {
	for _, x := range s.fields() {
		if *x.at < 1 {
			return fmt.Errorf("-%s %d: want 1 or more", x.name, *x.at)
		}
	}
	if s.Pods%labelled != 0 {
		return fmt.Errorf("-pods %d: want a multiple of %d", s.Pods, labelled)
	}
	if s.Rolled > s.Replicas {
		return fmt.Errorf("-rolled %d: want no more than the %d replicas", s.Rolled, s.Replicas)
	}
	if s.Claims > s.ScheduledHosts*devicesPerNode {
		return fmt.Errorf("-claims %d: want no more than the %d devices of the nodes", s.Claims, s.ScheduledHosts*devicesPerNode)
	}
	if s.Beats < 15 {
		return fmt.Errorf("-beats %d: want 15 or more, so that each lease is renewed", s.Beats)
	}
	if s.Nodes > s.Pods {
		return fmt.Errorf("-nodes %d: want no more than the %d pods", s.Nodes, s.Pods)
	}
	return nil
}
