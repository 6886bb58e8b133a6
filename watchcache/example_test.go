package watchcache_test

import (
	"context"
	"fmt"
	"log"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// A list, and a watch that continues it without a gap.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		log.Fatal(err)
	}
	pods := hub.Add(watchcache.Options{Prefix: "/registry/pods/", Namespaced: true, Resource: "pods"})
	go hub.Run(ctx)

	create := func(name string) {
		op := storage.Op{Key: pods.Key("default", name), Value: fmt.Appendf(nil, `{"kind":"Pod","metadata":{"name":%q}}`, name)}
		if _, err := store.Commit(ctx, storage.Txn{Then: []storage.Op{op}}); err != nil {
			log.Fatal(err)
		}
	}
	create("a")
	snapshot, err := pods.Snapshot(ctx, watchcache.ReadAt{}) // the latest revision
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listed:", snapshot.Count(watchcache.Selection{}, ""))

	watcher, err := pods.WatchFrom(ctx, snapshot, watchcache.Selection{})
	if err != nil {
		log.Fatal(err)
	}
	defer watcher.Close()
	create("b")
	for {
		events, _, err := watcher.Next()
		if err != nil {
			log.Fatal(err)
		}
		if len(events) > 0 {
			fmt.Println(events[0].Type, events[0].Object.Name())
			return
		}
		<-watcher.Bell()
	}
	// Output:
	// listed: 1
	// ADDED b
}
