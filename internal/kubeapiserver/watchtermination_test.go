package kubeapiserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWatchTermination: at the end of a server that is given time for it, watches end one after another, and new ones are told to
// come again.
func TestWatchTermination(t *testing.T) {
	const path, watches = "/api/v1/namespaces?watch=true", 8
	for grace := 4 * time.Second; ; grace *= 3 { // a machine may stall for longer than the first ones
		r := run(t, "--shutdown-watch-termination-grace-period="+grace.String(), "--shutdown-send-retry-after")
		c := browser(t, true)
		watch := func() (*http.Response, error) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer root-token")
			return c.Do(req)
		}
		ended := make(chan time.Time, watches)
		for range watches {
			stream, err := watch()
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Body.Close()
			go func() {
				io.Copy(io.Discard, stream.Body)
				ended <- time.Now()
			}()
		}
		began := time.Now()
		r.stop()
		first := <-ended
		resp, err := watch()
		asked := time.Now()
		var last time.Time
		for range watches - 1 {
			last = <-ended
		}
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if asked.Sub(began) >= grace/2 && grace < time.Minute {
			continue
		}
		if err != nil {
			t.Fatal("a new watch: ", err)
		}
		defer resp.Body.Close()
		if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" ||
			!strings.Contains(string(text), `"message":"apiserver is shutting down"`) {
			t.Errorf("a new watch: %s %v %s", resp.Status, resp.Header, text)
		}
		if between := last.Sub(first); between < grace/2 {
			t.Errorf("the watches end within %v of each other, where they have %v", between, grace)
		}
		return
	}
}
