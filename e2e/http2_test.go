package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/purego"
)

// TestHTTP2Flag checks that each implementation of HTTP/2 serves requests, watches and the upgrade of exec alike. They
// are told apart by the size of frames that they receive.
func TestHTTP2Flag(t *testing.T) {
	frames := map[string]uint32{"fairlead": 64 << 10, "net/http": 1 << 20}
	if purego.Enabled {
		frames["fairlead"] = frames["net/http"] // which serves with that tag
	}
	for by, frame := range frames {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			p := up(t, t.TempDir(), "--in-memory", "--http2="+by, "--http2-max-streams-per-connection=50")
			p.settled()
			conn, err := tls.Dial("tcp", strings.TrimPrefix(p.Server, "https://"), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
				t.Fatal(err)
			}
			first, err := http2.NewFramer(nil, conn).ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			settings := first.(*http2.SettingsFrame)
			if got, _ := settings.Value(http2.SettingMaxFrameSize); got != frame {
				t.Errorf("frames of %d bytes, want %d", got, frame)
			}
			if got, _ := settings.Value(http2.SettingMaxConcurrentStreams); got != 50 {
				t.Errorf("%d streams, want 50", got)
			}

			client, err := rest.HTTPClientFor(p.config())
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Get(p.Server + "/api/v1/namespaces")
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.ProtoMajor != 2 || resp.StatusCode != http.StatusOK {
				t.Errorf("a list: %s by %s", resp.Status, resp.Proto)
			}

			w, err := p.clientset().CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			p.kubectl("run", "web", "--image=nginx")
			p.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout="+patience.String())
			if e := <-w.ResultChan(); e.Type != watch.Added {
				t.Errorf("the watch sent %v first", e.Type)
			}
			expect(t, "exec", p.kubectl("exec", "web", "--", "hostname"), "web")
		})
	}
	if out := refused(t, 2, "up", "--http2=other"); !strings.Contains(out, "--http2=other: want fairlead or net/http") {
		t.Error(out)
	}
}
