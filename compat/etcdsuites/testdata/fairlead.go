// This file is laid into etcd's own test framework by suites_test.go: the members of
// its clusters then serve their clients from a store of ours.
package integration

import (
	"cmp"
	"crypto/tls"
	"sync"

	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
)

// A shared is the store of a cluster, and the names of the members that serve it.
type shared struct {
	store   *local.Store
	members map[string]bool
}

var stores = struct {
	sync.Mutex
	of map[string]*shared
}{of: map[string]*shared{}}

func (m *Member) storeKey() string { return m.InitialPeerURLsMap.String() + m.InitialClusterToken }

// serveFairlead serves the member's clients, from the store that all members of its
// cluster share.
func (m *Member) serveFairlead(config *tls.Config) error {
	stores.Lock()
	defer stores.Unlock()
	at := stores.of[m.storeKey()]
	if at == nil {
		store, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			return err
		}
		at = &shared{store, map[string]bool{}}
		stores.of[m.storeKey()] = at
	}
	at.members[m.Name] = true
	s := etcdserver.New(etcdserver.Config{
		Store: at.store, TLS: config, ClientURLs: []string{m.GRPCURL},
		ProgressInterval: cmp.Or(m.WatchProgressNotifyInterval, v3rpc.GetProgressReportInterval()),
	})
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(m.GRPCListener) }()
	m.ServerClosers = append(m.ServerClosers, func() { s.Close(); <-done })
	return nil
}

// leaveFairlead closes the store with the last member.
func (m *Member) leaveFairlead() {
	stores.Lock()
	defer stores.Unlock()
	at := stores.of[m.storeKey()]
	if at == nil {
		return
	}
	if delete(at.members, m.Name); len(at.members) == 0 {
		at.store.Close()
		delete(stores.of, m.storeKey())
	}
}
