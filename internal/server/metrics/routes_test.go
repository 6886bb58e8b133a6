package metrics_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/metrics"
)

// TestOwnDuration checks that the time in a queue or of webhooks is no part of a request's own duration, that dry runs do not count,
// and that only reads have a size.
func TestOwnDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		m := metrics.New(reg)
		start := time.Now()
		time.Sleep(5 * time.Second)
		m.Route(metrics.Route{Verb: "get", Code: 200}).Observe(start, 3*time.Second, 1500)
		m.Route(metrics.Route{Verb: "get", Code: 404}).Observe(start, 0, 500)
		m.Route(metrics.Route{Verb: "create", Code: 201, DryRun: true}).Observe(start, time.Second, 10)
		text := exposition(t, reg)
		for _, want := range []string{
			`apiserver_request_duration_seconds_sum{component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="GET",version=""} 10`,
			`apiserver_request_duration_seconds_count{component="apiserver",dry_run="All",group="",resource="",scope="",subresource="",verb="POST",version=""} 1`,
			`apiserver_request_sli_duration_seconds_sum{component="apiserver",group="",resource="",scope="",subresource="",verb="GET",version=""} 7`,
			`apiserver_request_sli_duration_seconds_bucket{component="apiserver",group="",resource="",scope="",subresource="",verb="GET",version="",le="2"} 1`,
			`apiserver_response_sizes_sum{component="apiserver",group="",resource="",scope="",subresource="",verb="GET",version=""} 2000`,
			`apiserver_request_total{code="404",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="GET",version=""} 1`,
		} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		for _, name := range []string{"apiserver_request_sli_duration_seconds", "apiserver_response_sizes"} {
			if n := testutil.CollectAndCount(reg, name); n != 1 {
				t.Errorf("%d series of %s, want that of GET alone", n, name)
			}
		}
	})
}

// TestAccess checks the results and categories of authentications and authorizations.
func TestAccess(t *testing.T) {
	reg := prometheus.NewRegistry()
	a := metrics.NewAccess()
	reg.MustRegister(a)
	now := time.Now()
	for _, user := range []string{"admin", "ann@example.com", "ann", "bob"} {
		a.Authenticated(user, nil, now)
	}
	a.Authenticated("", nil, now)
	a.Authenticated("", errBroken, now)
	a.Authorized(auth.Allow, nil, now)
	a.Authorized(auth.NoOpinion, nil, now)
	a.Authorized(auth.NoOpinion, errBroken, now)
	a.Authorized(auth.Deny, nil, now)
	a.Certificate(now.Add(time.Minute))
	text := exposition(t, reg)
	for _, want := range []string{
		`authentication_attempts{result="success"} 4`, `authentication_attempts{result="failure"} 1`, `authentication_attempts{result="error"} 1`,
		`authentication_duration_seconds_count{result="success"} 4`, `authenticated_user_requests{username="admin"} 1`,
		`authenticated_user_requests{username="email_id"} 1`, `authenticated_user_requests{username="other"} 2`,
		`authorization_attempts_total{result="denied"} 1`, `authorization_attempts_total{result="allowed"} 1`, `authorization_attempts_total{result="no-opinion"} 1`, `authorization_attempts_total{result="error"} 1`,
		`apiserver_client_certificate_expiration_seconds_bucket{le="1800"} 1`, `apiserver_client_certificate_expiration_seconds_bucket{le="0"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
