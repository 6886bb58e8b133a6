package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// TestEventsInBothGroups checks that an event written in one group is read in the other.
func TestEventsInBothGroups(t *testing.T) {
	c := start(t)
	core, events := "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	c.talk([]exchange{
		{send: "POST " + core, body: `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p"},"reason":"Pulled","message":"hello","type":"Normal","source":{"component":"kubelet"}}`, code: 201},
		{send: "GET " + events + "/e", code: 200, want: []string{`"apiVersion":"events.k8s.io/v1"`, `"note":"hello"`, `"regarding":{"kind":"Pod"`}},
		{send: "GET " + events, code: 200, want: []string{`"kind":"EventList","apiVersion":"events.k8s.io/v1"`, `"items":[{"metadata"`, `"note":"hello"`}},
		{send: "GET " + core + "?fieldSelector=involvedObject.name%3Dp,reason%3DPulled", code: 200, want: []string{`"name":"e"`}},
		{send: "GET " + core + "?fieldSelector=involvedObject.name%3Dq", code: 200, want: []string{`"items":[]`}},
		{send: "PATCH " + events + "/e application/merge-patch+json", body: `{"metadata":{"labels":{"a":"b"}}}`, code: 200, want: []string{`"apiVersion":"events.k8s.io/v1"`, `"labels":{"a":"b"}`}},
		{send: "PATCH " + core + "/e application/strategic-merge-patch+json", body: `{"message":"bye"}`, code: 200, want: []string{`"message":"bye"`, `"apiVersion":"v1"`, `"labels":{"a":"b"}`}},
	})
	w := c.watch(t, c.client.Transport, events+"?watch=1")
	if line, _ := w.lines.ReadString('\n'); !strings.Contains(line, `{"type":"ADDED","object":{"kind":"Event","apiVersion":"events.k8s.io/v1"`) {
		t.Error(line)
	}
	// Events do not take the garbage collector's finalizers.
	c.must("DELETE "+core+"/e?propagationPolicy=Foreground", "")
	if a := c.do("GET "+events+"/e", ""); a.code != 404 {
		t.Errorf("%d %s", a.code, a.body)
	}
}

func TestAutoscalersHaveTwoVersions(t *testing.T) {
	c := start(t)
	v1, v2 := "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	c.talk([]exchange{
		{send: "POST " + v1, body: `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"targetCPUUtilizationPercentage":60}}`, code: 201, want: []string{`"apiVersion":"autoscaling/v1"`, `"targetCPUUtilizationPercentage":60`}},
		{send: "GET " + v2 + "/h", code: 200, want: []string{`"apiVersion":"autoscaling/v2"`, `"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]`}},
		{send: "POST " + v2, body: `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"i"}}`, code: 400, want: []string{`the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)`}},
		{send: "PATCH " + v1 + "/h application/merge-patch+json", body: `{"spec":{"maxReplicas":5}}`, code: 200, want: []string{`"apiVersion":"autoscaling/v1"`, `"maxReplicas":5`}},
		{send: "GET " + v1, code: 200, want: []string{`"apiVersion":"autoscaling/v1"`, `"targetCPUUtilizationPercentage":60`, `!"kind":"HorizontalPodAutoscaler",`}},
	})
}

// TestRacingPatches checks that each of many concurrent patches of one object is applied.
func TestRacingPatches(t *testing.T) {
	c := start(t)
	c.must("POST "+maps, mapA)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			a := c.do("PATCH "+maps+"/a application/merge-patch+json", fmt.Sprintf(`{"data":{"k%d":"v"}}`, i))
			if a.code != 200 {
				t.Errorf("%d %s", a.code, a.body)
			}
		})
	}
	wg.Wait()
	data, _ := c.must("GET "+maps+"/a", "").at("data").(map[string]any)
	if len(data) != 21 {
		t.Errorf("%d keys: %v", len(data), data)
	}
}

// plugin is an admission plugin made of a function.
type plugin func(*admission.Request) error

func (plugin) Name() string                                          { return "Test" }
func (p plugin) Admit(_ context.Context, r *admission.Request) error { return p(r) }

func TestAdmission(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(r *admission.Request) error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s %s %s %v", r.Verb, r.Resource.Plural, r.Name, r.Old != nil))
			r.OnDone(func(written bool) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprint("done ", written))
			})
			if m, ok := r.Object.(resource.Object); ok && r.Verb == admission.Create {
				m.SetAnnotations(map[string]string{"admitted": r.User.Name})
			}
			return nil
		})}
	})
	c.talk([]exchange{
		{send: "POST " + maps, body: mapA, code: 201, want: []string{`"annotations":{"admitted":"system:anonymous"}`}},
		{send: "POST " + maps, body: mapA, code: 409},
		{send: "POST " + maps + "?dryRun=All", body: `{"metadata":{"name":"b"}}`, code: 201},
		{send: "PUT " + maps + "/a", body: mapA, code: 200},
		{send: "DELETE " + maps + "/a", code: 200},
	})
	mu.Lock()
	defer mu.Unlock()
	want := "CREATE configmaps a false,done true,CREATE configmaps a false,done false,CREATE configmaps b false,done false,UPDATE configmaps a true,done true,DELETE configmaps a true,done true"
	if got := strings.Join(seen, ","); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReviews(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Reviews = map[schema.GroupResource]server.CreateFunc{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(_ context.Context, r *server.CreateRequest) (runtime.Object, error) {
				out := r.Object.(*authorizationv1.SelfSubjectAccessReview)
				out.Status.Allowed = r.User.Name == "system:anonymous"
				return out, nil
			},
		}
	})
	reviews := "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	c.talk([]exchange{
		{send: "POST " + reviews, body: `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, code: 201, want: []string{`"kind":"SelfSubjectAccessReview"`, `"allowed":true`}},
		{send: "GET " + reviews, code: 405},
		{send: "POST /apis/authorization.k8s.io/v1/subjectaccessreviews", body: `{}`, code: 405},
	})
}

func TestInMemoryTransport(t *testing.T) {
	c := start(t)
	rt := server.Transport(c.server, &auth.User{Name: "me"})
	c.fill(3)
	t.Run("a closed body ends the watch", func(t *testing.T) {
		w := c.watch(t, rt, maps+"?watch=1")
		w.expect("ADDED m000 2")
		w.resp.Body.Close()
		w.expectOpen(c, 0)
	})
	t.Run("a cancelled context ends the watch", func(t *testing.T) {
		w := c.watch(t, rt, maps+"?watch=1&resourceVersion=4")
		w.cancel()
		if _, err := io.ReadAll(w.resp.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("reading ended with %v", err)
		}
		w.expectOpen(c, 0)
	})
	t.Run("a list longer than the buffer", func(t *testing.T) {
		for i := range 8 {
			c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"big%d"},"data":{"k":"%s"}}`, i, strings.Repeat("x", 60<<10)))
		}
		req, _ := http.NewRequest("GET", "http://memory"+maps, nil)
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		if want := c.must("GET "+maps, "").body; err != nil || string(data) != want {
			t.Errorf("%d bytes, %v; want %d", len(data), err, len(want))
		}
	})
	t.Run("an error is an answer", func(t *testing.T) {
		req, _ := http.NewRequest("GET", "http://memory"+maps+"/none", nil)
		resp, err := rt.RoundTrip(req)
		if err != nil || resp.StatusCode != 404 || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v %v", resp, err)
		}
	})
	t.Run("a cancelled request is not sent", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "DELETE", "http://memory"+maps+"/m000", nil)
		if _, err := rt.RoundTrip(req); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		c.must("GET "+maps+"/m000", "")
	})
}

// expectOpen waits until n watches of config maps are open.
func (w *watching) expectOpen(c *cluster, n int) {
	w.t.Helper()
	line := fmt.Sprintf(`apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",verb="WATCH",version="v1"} %d`, n)
	for range 1000 {
		if strings.Contains(c.must("GET /metrics", "").body, line) {
			return
		}
	}
	w.t.Error("the watch is still open")
}

// TestPanic checks that a panic ends only its own request.
func TestPanic(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(*admission.Request) error { panic("on purpose") })}
	})
	c.talk([]exchange{
		{send: "POST " + maps, body: mapA, code: 500, want: []string{`This request caused apiserver to panic.`}},
		{send: "GET " + maps, code: 200},
	})
}

func TestTooManyRequests(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	c := start(t, func(cfg *server.Config) {
		cfg.MaxWrites = 1
		cfg.Admission = admission.Chain{plugin(func(*admission.Request) error { enter <- struct{}{}; <-leave; return nil })}
	})
	done := make(chan answer)
	go func() { done <- c.do("POST "+maps, mapA) }()
	<-enter
	a := c.do("POST "+maps, mapA)
	if a.code != 429 || a.header.Get("Retry-After") != "1" || a.body != "Too many requests, please try again later.\n" {
		t.Errorf("%d %s", a.code, a.body)
	}
	c.must("GET "+maps, "") // reads are limited separately
	close(leave)
	if a := <-done; a.code != 201 {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// TestEventsExpire checks that events expire and other objects do not.
func TestEventsExpire(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.EventTTL = time.Second })
	events := "/api/v1/namespaces/default/events"
	c.must("POST "+maps, mapA)
	c.must("POST "+events, `{"metadata":{"name":"e","namespace":"default"},"involvedObject":{"namespace":"default"}}`)
	w := c.watch(t, c.client.Transport, events+"?watch=1&resourceVersion=2")
	w.expect("ADDED e 3", "DELETED e 4")
	c.must("GET "+maps+"/a", "")
}

func TestTimeoutParameter(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{waits{}}
	})
	c.talk([]exchange{
		{send: "GET " + maps + "?timeout=x", code: 400, want: []string{`invalid timeout specified in the request URL`}},
		{send: "POST " + maps + "?timeout=50ms", body: mapA, code: 504, want: []string{`"reason":"Timeout"`}},
	})
}

// waits is an admission plugin that waits until the request's time is up.
type waits struct{}

func (waits) Name() string { return "Waits" }
func (waits) Admit(ctx context.Context, _ *admission.Request) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestProtobufOptions sends delete options in the group's version, as clients do.
func TestProtobufOptions(t *testing.T) {
	c := start(t)
	cfg := c.config()
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	k := kubernetes.NewForConfigOrDie(cfg)
	d := `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	c.must("POST /apis/apps/v1/namespaces/default/deployments", d)
	policy := metav1.DeletePropagationForeground
	if err := k.AppsV1().Deployments("default").Delete(t.Context(), "d", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	got, err := k.AppsV1().Deployments("default").Get(t.Context(), "d", metav1.GetOptions{})
	if err != nil || len(got.Finalizers) != 1 || got.Generation != 2 {
		t.Errorf("%v %v", got, err)
	}
}

// TestApproval checks that the conditions of a certificate request are written through one
// subresource and the certificate through another.
func TestApproval(t *testing.T) {
	c := start(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "joe"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	request := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	csrs := "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	c.must("POST "+csrs, `{"metadata":{"name":"r"},"spec":{"request":"`+request+`","signerName":"example.com/x","usages":["client auth"]}}`)
	approved := `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"Yes"}]`
	merge := " application/merge-patch+json"
	c.talk([]exchange{
		{send: "PATCH " + csrs + "/r" + merge, body: approved + `}}`, code: 200, want: []string{`!Approved`}},
		{send: "PATCH " + csrs + "/r/approval" + merge, body: approved + `,"certificate":"eA=="},"spec":{"signerName":"example.com/y"}}`, code: 200, want: []string{`"type":"Approved"`, `"signerName":"example.com/x"`, `!"certificate":"eA=="`}},
		{send: "GET " + csrs + "/r/approval", code: 200, want: []string{`"type":"Approved"`}},
	})
}
