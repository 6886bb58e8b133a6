package controlplane_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/node"
)

// TestSimulatedAddressesStayOffTheNetwork: no part of the server sends packets to the
// addresses of simulated pods, nodes and services, in whichever process the nodes run.
func TestSimulatedAddressesStayOffTheNetwork(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	tun := openTunnel(t)
	for name, nodes := range map[string]int{"in the server's process": 2, "apart": 0} {
		t.Run(name, func(t *testing.T) {
			world := startOffNet(t, nodes)
			world.pods()
			world.webhooks()
			world.conversion()
			world.aggregated()
			world.proxies()
			world.served()
			if left := tun.packets(t); len(left) > 0 {
				t.Errorf("packets were sent to %v", left)
			}
		})
	}
}

// offNet is a control plane with the Service hook, whose endpoint is a simulated pod.
type offNet struct {
	*testing.T
	c         *client.Client
	authority *pki.Authority // signs the certificate of the webhook behind the pod served
	apart     bool           // the nodes run in another process
	pod       *corev1.Pod
}

func startOffNet(t *testing.T, nodes int) *offNet {
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	port := serveHook(t, authority)
	defs, err := kwok.Parse(fmt.Appendf(nil, `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: PortForward
metadata: {name: served, namespace: default}
spec:
  forwards:
  - ports: [8443]
    target: {address: 127.0.0.1, port: %d}
`, port))
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"*"}, Nodes: nodes, Definitions: defs})
	if nodes == 0 {
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- controlplane.RunNodes(ctx, cp.Config(), node.Options{Count: 2}, nil, controlplane.Apart{})
		}()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	c := controlplanetest.Client(t, cp)
	w := &offNet{T: t, c: c, authority: authority, apart: nodes == 0}
	return w
}

// serveHook serves a webhook on loopback that allows all requests, as served.default.svc.
func serveHook(t *testing.T, authority *pki.Authority) int {
	cert, err := authority.Serving("served.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct{ UID string } `json:"request"`
		}
		json.NewDecoder(r.Body).Decode(&review)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":%q,"allowed":true,"warnings":["seen"]}}`, review.Request.UID)
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().(*net.TCPAddr).Port
}

func (w *offNet) pods() {
	waittest.One(w, client.For[*corev1.ServiceAccount](w.c).Namespace("default"), "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	for _, p := range []struct{ name, host string }{{"hook", "false"}, {"served", "false"}, {"hosted", "true"}} {
		w.post("/api/v1/namespaces/default/pods", `{"metadata":{"name":"`+p.name+`","labels":{"app":"`+p.name+`"}},
			"spec":{"nodeName":"node-1","hostNetwork":`+p.host+`,"containers":[{"name":"c","image":"hook","ports":[{"containerPort":8443}]}]}}`)
		w.post("/api/v1/namespaces/default/services", `{"metadata":{"name":"`+p.name+`"},"spec":{"selector":{"app":"`+p.name+`"},"ports":[{"port":443,"targetPort":8443}]}}`)
	}
	// An endpoint whose pod does not exist.
	w.post("/api/v1/namespaces/default/services", `{"metadata":{"name":"stale"},"spec":{"ports":[{"port":443}]}}`)
	w.post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", `{"metadata":{"name":"stale","labels":{"kubernetes.io/service-name":"stale"}},"addressType":"IPv4",
		"ports":[{"port":443}],"endpoints":[{"addresses":["10.131.7.7"],"targetRef":{"kind":"Pod","namespace":"default","name":"gone"}}]}`)
	w.pod = waittest.One(w, client.For[*corev1.Pod](w.c).Namespace("default"), "hook", "an address", func(p *corev1.Pod) bool { return p.Status.PodIP != "" })
	for _, name := range []string{"hook", "served", "hosted"} {
		waittest.For(w, client.For[*discoveryv1.EndpointSlice](w.c).Namespace("default"), "an endpoint of "+name, discoveryv1.LabelServiceName+"="+name, func(all map[string]*discoveryv1.EndpointSlice) bool {
			for _, s := range all {
				if len(s.Endpoints) > 0 && s.Endpoints[0].Conditions.Ready != nil && *s.Endpoints[0].Conditions.Ready {
					return true
				}
			}
			return false
		})
		//lint:ignore SA1019 the proxy of Services reads Endpoints, which another controller writes
		waittest.One(w, client.For[*corev1.Endpoints](w.c).Namespace("default"), name, "an address", func(e *corev1.Endpoints) bool {
			return len(e.Subsets) > 0 && len(e.Subsets[0].Addresses) > 0
		})
	}
}

// webhooks configures webhooks at each kind of simulated address, and writes an object that
// they should review.
func (w *offNet) webhooks() {
	svc, err := client.For[*corev1.Service](w.c).Namespace("default").Get(w.Context(), "hook")
	w.must(err)
	const pod = "service default/hook is the simulated pod default/hook, which serves nothing"
	for name, h := range map[string]struct{ config, says string }{
		"service": {`{"service":{"namespace":"default","name":"hook"}}`, pod},
		"hosted":  {`{"service":{"namespace":"default","name":"hosted"}}`, "is the simulated pod default/hosted"},
		"stale":   {`{"service":{"namespace":"default","name":"stale"}}`, "10.131.7.7:443 of service default/stale is the simulated pod default/gone"},
		"cluster": {`{"url":"https://` + svc.Spec.ClusterIP + `/x"}`, pod},
		"no-one":  {`{"url":"https://10.111.255.250/x"}`, "10.111.255.250 is of the range of cluster IPs"},
		"pod":     {`{"url":"https://` + w.pod.Status.PodIP + `:8443/x"}`, w.pod.Status.PodIP + " belongs to simulated nodes"},
		"node":    {`{"url":"https://` + w.pod.Status.HostIP + `:8443/x"}`, w.pod.Status.HostIP + " belongs to simulated nodes"},
		"mapped":  {`{"url":"https://[::ffff:` + w.pod.Status.PodIP + `]:8443/x"}`, "belongs to simulated nodes"},
	} {
		for policy, passes := range map[string]bool{"Fail": false, "Ignore": true} {
			at := "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
			w.post(at, hookOf(name, policy, h.config, ""))
			err := w.asked(name)
			w.must(w.send(http.MethodDelete, at+"/"+name, ""))
			if passes && err != nil {
				w.Errorf("%s: with failurePolicy Ignore: %v", name, err)
			}
			if !passes && (err == nil || !strings.Contains(err.Error(), h.says)) {
				w.Errorf("%s: a write whose webhook cannot be called: %v\nwant: %s", name, err, h.says)
			}
		}
	}
}

func hookOf(name, policy, config, ca string) string {
	if ca != "" {
		config = strings.TrimSuffix(config, "}") + `,"caBundle":` + ca + `}`
	}
	return `{"metadata":{"name":"` + name + `"},"webhooks":[{"name":"a.example.com","failurePolicy":"` + policy + `","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":30,
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}],
		"objectSelector":{"matchLabels":{"asks":"` + name + `"}},"clientConfig":` + config + `}]}`
}

// asked creates an object that the webhook of a name reviews.
func (w *offNet) asked(name string) error {
	return w.send(http.MethodPost, "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"asked-","labels":{"asks":"`+name+`"}}}`)
}

// served calls a webhook behind a pod whose PortForward leads to a server on loopback.
func (w *offNet) served() {
	ca, err := json.Marshal(w.authority.PEM())
	w.must(err)
	w.post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", hookOf("served", "Fail", `{"service":{"namespace":"default","name":"served"}}`, string(ca)))
	if err := w.asked("served"); (err == nil) == w.apart {
		w.Errorf("a webhook behind a pod with a PortForward: %v; nodes in another process: %t", err, w.apart)
	}
}

func (w *offNet) conversion() {
	w.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"gadgets.far.example.com"},"spec":{"group":"far.example.com","scope":"Cluster",
		"names":{"plural":"gadgets","kind":"Gadget"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"default","name":"hook"}}}},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	w.post("/apis/far.example.com/v1/gadgets", `{"apiVersion":"far.example.com/v1","kind":"Gadget","metadata":{"name":"g"}}`)
	err := w.send(http.MethodGet, "/apis/far.example.com/v2/gadgets/g", "")
	if err == nil || !strings.Contains(err.Error(), "is the simulated pod default/hook") {
		w.Errorf("an object that cannot be converted: %v", err)
	}
}

func (w *offNet) aggregated() {
	w.post("/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.near.example.com"},"spec":{"group":"near.example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1,
		"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"hook"}}}`)
	waittest.One(w, client.For[*apiregistrationv1.APIService](w.c), "v1.near.example.com", "its condition", func(s *apiregistrationv1.APIService) bool {
		for _, c := range s.Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionFalse && strings.Contains(c.Message, "is the simulated pod default/hook") {
				return true
			}
		}
		return false
	})
	if err := w.send(http.MethodGet, "/apis/near.example.com/v1/things", ""); !apierrors.IsServiceUnavailable(err) {
		w.Errorf("a group whose server is a simulated pod: %v", err)
	}
}

// proxies checks that the proxies reach simulated pods and kubelets of the server's own
// process, and no other address.
func (w *offNet) proxies() {
	for path, there := range map[string]bool{
		"/api/v1/namespaces/default/pods/hook:8080/proxy/":    true,
		"/api/v1/namespaces/default/services/hook:443/proxy/": true,
		"/api/v1/namespaces/default/pods/hosted:8080/proxy/":  false,
		"/api/v1/namespaces/default/services/hosted:/proxy/":  false,
		"/api/v1/namespaces/default/pods/hook/log":            true,
		"/api/v1/nodes/node-1/proxy/healthz":                  true,
		"/api/v1/nodes/node-1:8080/proxy/":                    false,
	} {
		err := w.send(http.MethodGet, path, "")
		if want := there && !w.apart; (err == nil) != want {
			w.Errorf("%s: %v, want an answer: %t", path, err, want)
		}
	}
}

func (w *offNet) post(path, body string) {
	w.Helper()
	w.must(w.send(http.MethodPost, path, body))
}

func (w *offNet) send(method, path, body string) error {
	var text []byte
	if body != "" {
		text = []byte(body)
	}
	_, err := w.c.REST().Do(w.ctx(), client.Request{Method: method, Path: path, Body: text})
	return err
}

// ctx is not canceled at the end of the test, since cleanups send requests too.
func (w *offNet) ctx() context.Context { return context.WithoutCancel(w.Context()) }

func (w *offNet) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
