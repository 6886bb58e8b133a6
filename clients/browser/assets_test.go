package browser

import (
	"encoding/base64"
	"mime"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// replaceAssets makes the browser read the page's files from a directory, so that a change of them is tested without a new
// build of the server.
func (b *fixture) replaceAssets(t *testing.T, dir string) {
	chromedp.ListenTarget(b.ctx, func(ev any) {
		if ev, ok := ev.(*fetch.EventRequestPaused); ok {
			go b.replaceAsset(ev, dir)
		}
	})
	b.do(t, fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/ui/assets/*"}}))
}

func (b *fixture) replaceAsset(ev *fetch.EventRequestPaused, dir string) {
	name := path.Base(ev.Request.URL)
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		_ = chromedp.Run(b.ctx, fetch.ContinueRequest(ev.RequestID))
		return
	}
	_ = chromedp.Run(b.ctx, fetch.FulfillRequest(ev.RequestID, 200).WithBody(base64.StdEncoding.EncodeToString(data)).
		WithResponseHeaders([]*fetch.HeaderEntry{{Name: "Content-Type", Value: mime.TypeByExtension(path.Ext(name))}}))
}
