package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/trace"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	shots  = flag.String("shots", "", "a directory for pictures of the views")
	assets = flag.String("assets", "", "a directory to read the page's files from, in place of the server's")
)

// chromium finds a browser. A missing browser is a failure unless FAIRLEAD_NO_BROWSER is
// set.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("FAIRLEAD_BROWSER"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	if os.Getenv("FAIRLEAD_NO_BROWSER") == "1" {
		t.Skip("FAIRLEAD_NO_BROWSER=1: THE PAGE IS NOT TESTED")
	}
	t.Fatal("no chromium here: install one, name one in FAIRLEAD_BROWSER, or skip these tests with FAIRLEAD_NO_BROWSER=1")
	return ""
}

// fixture is a control plane and a browser.
type fixture struct {
	cp     *controlplane.ControlPlane
	lives  *trace.Log
	faults *faults.Set
	client *client.Client
	ctx    context.Context // the browser's
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, trace.Options{}, 3)
}

// newFixtureWith sets the size of the trace and the number of nodes.
func newFixtureWith(t *testing.T, kept trace.Options, nodes int) *fixture {
	t.Helper()
	chromium(t) // or skip
	lives, broken := trace.New(kept), faults.New()
	cp, err := controlplane.Start(t.Context(), controlplane.Options{
		DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0",
		Controllers: []string{"*"}, Scheduler: true, Nodes: nodes, Trace: lives, Faults: broken,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := cp.Config()
	config.QPS = -1
	c, err := client.New(config, client.Options{UserAgent: "kubectl"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t)
	b.cp, b.lives, b.faults, b.client = cp, lives, broken, c
	return b
}

// newBrowser starts a browser alone.
func newBrowser(t *testing.T) *fixture {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("hide-scrollbars", false), chromedp.WSURLReadTimeout(time.Minute), chromedp.WindowSize(1360, 850))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &fixture{ctx: ctx}
	b.listen(t)
	if err := chromedp.Run(ctx); err != nil { // the browser ends with the context of the first run
		t.Fatal(err)
	}
	if *assets != "" {
		b.replaceAssets(t, *assets)
	}
	return b
}

// expected matches the browser's errors that the tests cause: invalid requests, requests without a session,
// without a server or for missing objects, HTML made from strings, and requests to the server by a pod's page.
var expected = regexp.MustCompile(`status of (400|401|403|404|409|410|422|429)|TrustedHTML|ERR_CONNECTION_|ERR_EMPTY_RESPONSE|from origin 'null' has been blocked by CORS policy|ERR_FAILED \S+/secrets$`)

// listen fails the test for every other error of the browser: exceptions, console errors, and
// violations of the page's Content-Security-Policy.
func (b *fixture) listen(t *testing.T) {
	var mu sync.Mutex
	var bad []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		bad = append(bad, text)
	}
	chromedp.ListenTarget(b.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			note(ev.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if ev.Entry.Level == log.LevelError && !expected.MatchString(ev.Entry.Text+" "+ev.Entry.URL) {
				note(ev.Entry.Text + " " + ev.Entry.URL)
			}
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, text := range bad {
			t.Error("the browser reported: ", text)
		}
	})
}

// do runs actions in the browser, with a timeout.
func (b *fixture) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var text string
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.body.innerText`, &text))
		t.Fatalf("%v; the page:\n%s", err, text)
	}
}

// until waits for an expression to be true.
func (b *fixture) until(t *testing.T, expression string, args ...any) {
	t.Helper()
	b.do(t, until(fmt.Sprintf(expression, args...)))
}

// until polls, since navigation ends scripts that wait in the page.
func until(expression string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			var ok bool
			err := chromedp.Evaluate("Boolean("+expression+")", &ok).Do(ctx)
			if ok {
				return nil
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("never true: %s (%v)", expression, err)
			}
		}
	})
}

// get evaluates an expression.
func get[T any](t *testing.T, b *fixture, expression string) (v T) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expression, &v))
	return v
}

// evaluate runs a script and ignores its value.
func evaluate(script string) chromedp.Action { return chromedp.Evaluate("void ("+script+")", nil) }

// key presses keys in the focused element.
func (b *fixture) key(t *testing.T, keys string) {
	t.Helper()
	b.do(t, chromedp.KeyEvent(keys))
}

// open navigates to a view of the page.
func (b *fixture) open(t *testing.T, place string) {
	t.Helper()
	b.do(t, chromedp.Evaluate(fmt.Sprintf("location.hash = %q", place), nil))
}
