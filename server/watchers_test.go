package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/server"
	"fairlead.dev/trace"
)

// TestWatchersLag checks that a watcher that does not read lags by its unsent events, and its
// neighbour does not.
func TestWatchersLag(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.Trace = trace.New(trace.Options{}) })
	c.must("POST "+maps, `{"metadata":{"name":"big"}}`)
	conn := dialIdle(t, c)
	defer conn.Close()
	openIdle(t, c, conn, 1, func(int) string { return maps + "?watch=1&resourceVersion=1&fieldSelector=metadata.name%3Dbig" })
	reading, err := c.client.Get(c.base + maps + "?watch=1&resourceVersion=1")
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Body.Close()
	events := json.NewDecoder(reading.Body)

	var newest string
	for i := range 4 {
		value := strings.Repeat(string(rune('a'+i)), 256<<10)
		newest = c.must("PATCH "+maps+"/big application/merge-patch+json", `{"data":{"k":"`+value+`"}}`).text("metadata.resourceVersion")
	}
	for { // until the neighbour has read all
		var ev struct {
			Object struct {
				Metadata struct{ ResourceVersion string }
			}
		}
		if err := events.Decode(&ev); err != nil {
			t.Fatal(err)
		}
		if ev.Object.Metadata.ResourceVersion == newest {
			break
		}
	}
	for deadline := time.Now().Add(time.Minute); ; {
		var all []server.Watcher
		if err := json.Unmarshal([]byte(c.must("GET "+server.WatchersPath, "").body), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[0].ID >= all[1].ID || all[0].Fields != "metadata.name=big" || all[0].Resource != "configmaps" {
			t.Fatalf("watchers: %+v", all)
		}
		stuck, well := all[0], all[1]
		if well.Waiting == 0 && well.Oldest == 0 && well.Reached == trace.Revision(newest) &&
			stuck.Waiting > 0 && stuck.Oldest > stuck.Reached && stuck.Oldest <= trace.Revision(newest) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the one that reads nothing: %+v; its neighbour: %+v", stuck, well)
		}
	}
}

// TestNoWatchersWithoutTrace checks that a server without a trace does not list watchers.
func TestNoWatchersWithoutTrace(t *testing.T) {
	if a := start(t).do("GET "+server.WatchersPath, ""); a.code != http.StatusNotFound {
		t.Errorf("%d %s", a.code, a.body)
	}
}
