package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestShots takes pictures, if -shots is set.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots=DIR")
	}
	b := newFixture(t)
	_, scaled := b.story(t, 4)
	b.stuck(t)
	b.do(t, chromedp.Navigate(b.cp.PageURL()))
	b.until(t, `location.pathname === '/ui/' && document.querySelector('.problem')`)
	places := []struct{ name, place, ready string }{
		{"overview", "#/overview", `document.querySelector('.problem') && document.querySelector('.plot .line')`},
		{"events", "#/events?text=", `document.querySelector('.row.event')`},
		{"hops", fmt.Sprintf("#/events/%d", scaled), `document.querySelectorAll('.fall.work').length > 0`},
		{"tree", fmt.Sprintf("#/events/%d/tree", scaled), `document.querySelectorAll('.row.node').length > 9`},
		{"browse", "#/browse/pods", `document.querySelectorAll('.list .tone').length > 3 && document.querySelector('.kinds a')`},
		{"beside", "#/browse/pods?of=default%2F" + b.pod(t, "app=web"), `document.querySelector('.side .why .badge')`},
		{"yaml", "#/object/deployments.apps/default/web?part=yaml", `document.querySelector('.yaml .key')`},
		{"history", "#/object/deployments.apps/default/web?part=history", `document.querySelectorAll('.change').length > 3`},
		{"why", "#/object/deployments.apps/default/stuck", `document.querySelectorAll('.why .parts > li').length > 1`},
		{"watchers", "#/watchers", `document.querySelectorAll('.row.watcher').length > 3`},
		{"queues", "#/queues", `document.querySelectorAll('.card').length > 2`},
		{"travel", fmt.Sprintf("#/browse/pods?at=%d", scaled+8), `document.querySelectorAll('.list .row.cells').length > 1`},
		{"then", fmt.Sprintf("#/browse/deployments.apps?of=default%%2Fweb&at=%d", scaled), `document.querySelector('.side .yaml')`},
		{"empty", "#/events?text=nothing+has+this+name", `document.querySelector('.empty button')`},
	}
	screens := []struct {
		name, theme   string
		width, height int64
	}{{"dark", "dark", 1360, 850}, {"light", "light", 1360, 850}, {"narrow", "dark", 390, 844}}
	for _, s := range screens {
		b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.theme}}),
			chromedp.EmulateViewport(s.width, s.height))
		for _, p := range places {
			b.open(t, p.place)
			b.until(t, "%s", p.ready)
			var data []byte
			b.do(t, chromedp.CaptureScreenshot(&data))
			if err := os.WriteFile(filepath.Join(*shots, s.name+"-"+p.name+".png"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
