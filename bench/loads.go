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
	// pods says that it needs the pods in the store.
	pods bool
	// asked: it runs only if it is named, for what it takes.
	asked bool
	run   func(ctx context.Context, b *bench) ([]figure, error)
}

// loads are in the order in which they run: what wants an empty server comes
// first, and memory after everything last.
var loads = []load{
	{"start", false, false, start},
	{"idle", false, false, idle},
	{"idle-watch", false, false, idleWatches},
	{"create", false, false, create},
	{"get", true, false, get},
	{"patch", true, false, patch},
	{"list", true, false, listJSON},
	{"list-proto", true, false, listProto},
	{"list-label", true, false, listLabel},
	{"list-page", true, false, listPage},
	{"watchlist", true, false, watchList},
	{"fan-out", true, false, fanOut},
	{"own-node", true, false, ownNode},
	{"memory", true, false, memory},
	{"crowd", true, true, crowd},
}

func loadNames() []string {
	var names []string
	for _, l := range loads {
		names = append(names, l.name)
	}
	return names
}

// selectLoads keeps the order of loads, whatever that of the names is.
func selectLoads(names string) ([]load, error) {
	if names == "all" {
		return slices.DeleteFunc(slices.Clone(loads), func(l load) bool { return l.asked }), nil
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
