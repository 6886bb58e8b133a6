package aggregate_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/testenv"
)

// extension is a server of one kind. It trusts the user headers of clients with a front proxy's certificate.
type extension struct {
	ca   []byte
	port int32
}

func serve(t *testing.T, c *client.Client) *extension {
	t.Helper()
	trust, err := client.For[*corev1.ConfigMap](c).Namespace("kube-system").Get(t.Context(), "extension-apiserver-authentication")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := json.Unmarshal([]byte(trust.Data["requestheader-allowed-names"]), &names); err != nil {
		t.Fatal(err)
	}
	front := x509.NewCertPool()
	if !front.AppendCertsFromPEM([]byte(trust.Data["requestheader-client-ca-file"])) {
		t.Fatal("no CA of front proxies is published")
	}
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Serving("gadgets.default.svc")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, text)
		})
	}
	answer("/apis/far.example.com/v1", `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"far.example.com/v1","resources":[
{"name":"gadgets","singularName":"gadget","namespaced":true,"kind":"Gadget","verbs":["get","list","watch"],"shortNames":["gd"]},
{"name":"gadgets/status","singularName":"","namespaced":true,"kind":"Gadget","verbs":["get"]}]}`)
	answer("/openapi/v3", `{"paths":{"apis/far.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/far.example.com/v1?hash=7"}}}`)
	answer("/openapi/v2", `{"swagger":"2.0","paths":{"/apis/far.example.com/v1/gadgets":{"get":{"description":"all gadgets","responses":{}}}}}`)
	mux.HandleFunc("/openapi/v3/apis/far.example.com/v1", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"openapi":"3.0.0","info":{"title":"for %s, %s"}}`, r.Header.Get("X-Remote-User"), r.URL.RawQuery)
	})
	mux.HandleFunc("/apis/far.example.com/v1/namespaces/default/gadgets", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprintf(w, `{"user":%q,"groups":%q,"authorization":%q,"query":%q}`, r.Header.Get("X-Remote-User"), strings.Join(r.Header.Values("X-Remote-Group"), ","), r.Header.Get("Authorization")+r.Header.Get("Impersonate-User"), r.URL.RawQuery)
			return
		}
		io.WriteString(w, `{"type":"ADDED","object":{"kind":"Gadget","apiVersion":"far.example.com/v1","metadata":{"name":"g"}}}`+"\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/apis/far.example.com/v1/namespaces/default/gadgets/g/talk", func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: talk\r\n\r\n")
		line, _ := rw.ReadString('\n')
		fmt.Fprintf(conn, "%s said %s", r.Header.Get("X-Remote-User"), line)
	})
	listener, err := net.Listen("tcp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(names, r.TLS.PeerCertificates[0].Subject.CommonName) {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	srv.Listener.Close()
	srv.Listener, srv.EnableHTTP2 = listener, true
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, ClientCAs: front, ClientAuth: tls.RequireAndVerifyClientCert}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	return &extension{authority.PEM(), int32(srv.Listener.Addr().(*net.TCPAddr).Port)}
}

func (e *extension) service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets", Namespace: "default"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}},
	}
}

// ownAddress returns an address of this machine that can be an endpoint's: not a loopback address.
func ownAddress(t *testing.T) string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but that of its loop")
	return ""
}

func (e *extension) slice(t *testing.T) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "gadgets-1", Namespace: "default", Labels: map[string]string{discoveryv1.LabelServiceName: "gadgets"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{ownAddress(t)}}},
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: &e.port}},
	}
}

// says waits for a condition of the API service with the given reason and message.
func says(t *testing.T, c *client.Client, reason, message string) {
	t.Helper()
	s := await(t, c, "v1.far.example.com", func(s *apiregistrationv1.APIService) bool {
		return s != nil && len(s.Status.Conditions) == 1 && s.Status.Conditions[0].Reason == reason
	})
	if got := s.Status.Conditions[0].Message; got != message {
		t.Errorf("%s says %q, want %q", reason, got, message)
	}
}

// TestRemote checks that requests for a registered version reach its server, with their user, once it has responded
// to a check, and that the conditions on the way give the reasons.
func TestRemote(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	e := serve(t, c)
	ctx := t.Context()
	api, err := rest.HTTPClientFor(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	const gadgets = "/apis/far.example.com/v1/namespaces/default/gadgets"
	get := func(path string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "GET", env.Config().Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Remote-User", "somebody else")
		req.Header.Set("Impersonate-User", "kubernetes-admin")
		req.Header.Set("Impersonate-Group", "system:masters")
		resp, err := api.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	if code, body := get(gadgets); code != 404 {
		t.Errorf("nobody has registered it: %d %s", code, body)
	}
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.far.example.com"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "far.example.com", Version: "v1", GroupPriorityMinimum: 17000, VersionPriority: 5, CABundle: e.ca,
		Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "gadgets"},
	}}
	if service, err = services(c).Create(ctx, service); err != nil || *service.Spec.Service.Port != 443 {
		t.Fatal(err)
	}
	if code, body := get(gadgets); code != 503 || body != "service unavailable\n" {
		t.Errorf("nobody has seen its server: %d %q", code, body)
	}
	says(t, c, "ServiceNotFound", `service/gadgets in "default" is not present`)
	svc := e.service()
	svc.Spec.Ports[0].Port = 444
	if svc, err = client.For[*corev1.Service](c).Namespace("default").Create(ctx, svc); err != nil {
		t.Fatal(err)
	}
	says(t, c, "ServicePortError", `service/gadgets in "default" is not listening on port 443`)
	svc.Spec.Ports[0].Port = 443
	if _, err = client.For[*corev1.Service](c).Namespace("default").Update(ctx, svc); err != nil {
		t.Fatal(err)
	}
	says(t, c, "EndpointsNotFound", `cannot find endpointslices for service/gadgets in "default"`)
	slices := client.For[*discoveryv1.EndpointSlice](c).Namespace("default")
	slice := e.slice(t)
	slice.Endpoints[0].Conditions.Ready = ptr.To(false)
	if slice, err = slices.Create(ctx, slice); err != nil {
		t.Fatal(err)
	}
	says(t, c, "MissingEndpoints", `endpointslices for service/gadgets in "default" have no addresses with port name "https"`)
	slice.Endpoints[0].Conditions.Ready = ptr.To(true)
	if _, err = slices.Update(ctx, slice); err != nil {
		t.Fatal(err)
	}
	says(t, c, "Passed", "all checks passed")

	code, body := get(gadgets + "?labelSelector=a%3Db")
	if want := `{"user":"kubernetes-admin","groups":"system:masters,system:authenticated","authorization":"","query":"labelSelector=a%3Db"}`; code != 200 || body != want {
		t.Errorf("%d %s, want %s", code, body, want)
	}
	lists(t, env.Config(), "gadgets")
	describes(t, get)
	watches(t, api, env.Config().Host+gadgets+"?watch=1")
	talks(t, env.Config(), gadgets+"/g/talk")

	// A server that stops responding becomes unavailable.
	if err := slices.Delete(ctx, slice.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	says(t, c, "EndpointsNotFound", `cannot find endpointslices for service/gadgets in "default"`)
	if code, _ := get(gadgets); code != 503 {
		t.Errorf("its server has gone: %d", code)
	}
	for _, line := range []string{
		`aggregator_unavailable_apiservice{name="v1.far.example.com"} 1`, `aggregator_unavailable_apiservice{name="v1.apps"} 0`,
		`aggregator_unavailable_apiservice_total{name="v1.far.example.com",reason="EndpointsNotFound"} 1`,
	} {
		// counted once the condition is written
		for metrics := ""; !strings.Contains(metrics, line+"\n"); _, metrics = get("/metrics") {
		}
	}
	lists(t, env.Config(), "")
	if err := services(c).Delete(ctx, service.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if code, _ := get(gadgets); code != 404 {
		t.Errorf("nobody has registered it any more: %d", code)
	}
	if code, _ := get("/openapi/v3/apis/far.example.com/v1"); code != 404 {
		t.Errorf("nor is it described: %d", code)
	}
}

// lists expects the group in discovery, in its place, with the resource; an empty resource means that the group has
// failed.
func lists(t *testing.T, config *rest.Config, resource string) {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	groups, byVersion, failed, err := d.GroupsAndMaybeResources()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range groups.Groups {
		names = append(names, g.Name)
	}
	if i := slices.Index(names, "far.example.com"); i < 1 || names[i+1] != "rbac.authorization.k8s.io" {
		t.Errorf("groups are %v", names)
	}
	for gv, list := range byVersion {
		if gv.Group == "far.example.com" && resource != "" && (len(list.APIResources) != 2 || list.APIResources[0].Name != resource) {
			t.Errorf("%v has %+v", gv, list.APIResources)
		}
	}
	if (len(failed) == 0) != (resource != "") {
		t.Errorf("failed are %v", failed)
	}
	d.UseLegacyDiscovery = true
	if list, err := d.ServerResourcesForGroupVersion("far.example.com/v1"); resource != "" && (err != nil || list.APIResources[0].Name != resource) || resource == "" && !apierrors.IsServiceUnavailable(err) {
		t.Errorf("the older form: %v %v", list, err)
	}
}

// describes expects the server's OpenAPI documents to be listed and merged as soon as it is available, and its v3
// document to come from itself.
func describes(t *testing.T, get func(path string) (int, string)) {
	t.Helper()
	if _, list := get("/openapi/v3"); !strings.Contains(list, `"apis/far.example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/far.example.com/v1?hash=7"}`) {
		t.Errorf("not among the documents: %s", list)
	}
	if code, text := get("/openapi/v3/apis/far.example.com/v1?hash=7"); code != 200 || text != `{"openapi":"3.0.0","info":{"title":"for kubernetes-admin, hash=7"}}` {
		t.Errorf("its document: %d %s", code, text)
	}
	if code, text := get("/openapi/v2"); code != 200 || !strings.Contains(text, `"all gadgets"`) || !strings.Contains(text, `"/api/v1/nodes"`) {
		t.Errorf("v2: %d, %d bytes", code, len(text))
	}
}

// watches expects an event on an open stream.
func watches(t *testing.T, api *http.Client, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := api.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"type":"ADDED"`) {
		t.Errorf("%q %v", line, err)
	}
}

// talks expects an upgraded connection to work in both directions.
func talks(t *testing.T, config *rest.Config, path string) {
	t.Helper()
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	tlsConfig.NextProtos = []string{"http/1.1"}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(config.Host, "https://"), tlsConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: talk\r\n\r\n", path)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(err, resp)
	}
	fmt.Fprintln(conn, "hello")
	if line, err := r.ReadString('\n'); line != "kubernetes-admin said hello\n" {
		t.Errorf("%q %v", line, err)
	}
}

// TestUntrusted checks that a server with an untrusted certificate is refused until verification is turned off. It
// is reached by the external name of its service.
func TestUntrusted(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	e := serve(t, c)
	other, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	service := &apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.far.example.com"}, Spec: apiregistrationv1.APIServiceSpec{
		Group: "far.example.com", Version: "v1", GroupPriorityMinimum: 2000, VersionPriority: 5, CABundle: other.PEM(),
		Service: &apiregistrationv1.ServiceReference{Namespace: "default", Name: "gadgets", Port: &e.port},
	}}
	svc := e.service()
	svc.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
	if _, err := client.For[*corev1.Service](c).Namespace("default").Create(t.Context(), svc); err != nil {
		t.Fatal(err)
	}
	if _, err := services(c).Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	s := await(t, c, service.Name, func(s *apiregistrationv1.APIService) bool { return s != nil && len(s.Status.Conditions) == 1 })
	if now := s.Status.Conditions[0]; now.Reason != "FailedDiscoveryCheck" || !strings.Contains(now.Message, "certificate signed by unknown authority") {
		t.Errorf("%+v", now)
	}
	patch(t, c, service.Name, `{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}`)
	says(t, c, "Passed", "all checks passed")
}
