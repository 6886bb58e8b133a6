package controlplane_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/badnet"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestHealthWithoutStore: without its etcd each health check that needs etcd fails.
func TestHealthWithoutStore(t *testing.T) {
	far := startEtcd(t)
	u, err := url.Parse(far.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	etcd := through(t, u.Host)
	far.Servers[0] = "https://" + etcd.Addr()
	cp := controlplanetest.Start(t, controlplane.Options{Etcd: far})
	get := controlplanetest.Getter(t, cp.Config())
	if code, _ := get("/livez/etcd"); code != 200 {
		t.Errorf("with etcd: %d", code)
	}
	etcd.Set(badnet.Conditions{Refuse: true})
	etcd.Reset()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for code, _ := get("/livez/etcd"); code != 500 && ctx.Err() == nil; code, _ = get("/livez/etcd") {
	}
	if code, text := get("/livez/etcd"); code != 500 || !strings.HasPrefix(text, "internal server error: ") {
		t.Errorf("without etcd: %d %s", code, text)
	}
	if code, text := get("/readyz"); code != 500 || !strings.Contains(text, "[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n") || !strings.HasSuffix(text, "readyz check failed\n") {
		t.Errorf("without etcd: %d %s", code, text)
	}
	_, text := get("/metrics/slis")
	if !strings.Contains(text, `kubernetes_healthcheck{name="etcd",type="readyz"} 0`) {
		t.Errorf("after a failure:\n%s", text)
	}
}
