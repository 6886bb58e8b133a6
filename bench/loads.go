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
	run  func(ctx context.Context, b *bench) ([]figure, error)
}

// loads are in the order in which they run: what wants an empty server comes
// first, and memory after everything last.
var loads = []load{
	{"start", false, start},
	{"idle", false, idle},
	{"idle-watch", false, idleWatches},
	{"create", false, create},
	{"get", true, get},
	{"patch", true, patch},
	{"list", true, listJSON},
	{"list-proto", true, listProto},
	{"list-label", true, listLabel},
	{"list-page", true, listPage},
	{"watchlist", true, watchList},
	{"fan-out", true, fanOut},
	{"own-node", true, ownNode},
	{"memory", true, memory},
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
		return loads, nil
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
