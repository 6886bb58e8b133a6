package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/server"
)

// TestStuckClientsHoldNothing checks that the server keeps no data for clients that do not read,
// and counts each when it is dropped.
func TestStuckClientsHoldNothing(t *testing.T) {
	const connections, streams, writes, size = 8, 5, 60, 256 << 10
	c := start(t, func(cfg *server.Config) {
		cfg.History.HistoryBytes, cfg.WriteTimeout = 1<<20, 2*time.Second
	})
	value := strings.Repeat("x", size)
	change := func(i int) {
		c.must("PATCH "+maps+"/big application/merge-patch+json", fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, value))
	}
	c.must("POST "+maps, `{"metadata":{"name":"big"}}`)
	for i := range 4 {
		change(i)
	}
	for range connections {
		conn := dialIdle(t, c)
		t.Cleanup(func() { conn.Close() })
		openIdle(t, c, conn, streams, func(int) string { return maps + "?watch=1&resourceVersion=2" })
	}
	before := inUse()[0]
	for i := range writes {
		change(i)
	}
	// The events that they have missed would be 600 MB.
	if grown := inUse()[0] - before; grown > 40<<20 {
		t.Errorf("%d streams that nobody reads hold %d MB", connections*streams, grown>>20)
	}
	c.awaitMetric(fmt.Sprintf(`apiserver_terminated_watchers_total{group="",resource="configmaps"} %d`, connections*streams))
	c.awaitWatches(0)
}
