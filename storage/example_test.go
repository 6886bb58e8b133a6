package storage_test

import (
	"context"
	"fmt"
	"log"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// A cursor follows the log from a revision, without a goroutine of its own.
func Example() {
	ctx := context.Background()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	start := store.Revision()

	put := func(value string) {
		if _, err := store.Commit(ctx, storage.Txn{Then: []storage.Op{{Key: "/colour", Value: []byte(value)}}}); err != nil {
			log.Fatal(err)
		}
	}
	put("red")
	put("blue")

	cursor, err := store.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd, After: start})
	if err != nil {
		log.Fatal(err)
	}
	defer cursor.Close()
	for seen := 0; seen < 2; {
		batch, err := cursor.Next()
		if err != nil {
			log.Fatal(err)
		}
		if len(batch.Events) == 0 {
			<-cursor.Bell()
		}
		for _, e := range batch.Events {
			seen++
			fmt.Printf("%s = %s at revision %d\n", e.KV.Key, e.KV.Value, e.Revision()-start)
		}
	}
	// Output:
	// /colour = red at revision 1
	// /colour = blue at revision 2
}
