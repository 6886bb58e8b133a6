package managed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/transcript"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// TestTranscripts runs the sequences of writes in testdata; package transcript has their
// format. MANAGED_SERVER and MANAGED_TOKEN name another server.
//
// An answer tells whether the object has a new revision, and has its content without
// server-set fields, and its managedFields, sorted, without times.
func TestTranscripts(t *testing.T) {
	transcript.Suite{Env: "MANAGED", Serve: serve, Prepare: func(p *transcript.Peer) {
		p.Print = (&writes{t: p.T, revision: map[string]string{}}).print
	}}.Run(t)
}

// writes knows the revisions that one transcript's writes have made.
type writes struct {
	t        *testing.T
	revision map[string]string // by path
}

// serve starts a server of ours with the mutating plugins.
func serve(t *testing.T) string {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Store: store, Resources: builtin.Resources(), Wire: func(c *server.Config, s *server.Server) error {
		c.Admission = slices.DeleteFunc(admission.Default(admission.Options{
			Lookup: s.Lookup(), Services: admission.ServiceOptions{Families: []corev1.IPFamily{corev1.IPv4Protocol}},
		}), func(p admission.Plugin) bool {
			return p.Name() == "ServiceAccount" || p.Name() == "CertificateApproval"
		})
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Bootstrap(t.Context(), []runtime.Object{&networkingv1.ServiceCIDR{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "ServiceCIDR"},
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.0.0.0/24"}},
	}}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	h := httptest.NewTLSServer(s)
	t.Cleanup(func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
		store.Close()
	})
	return h.URL
}

// sorted returns JSON with the members of its objects in order.
func sorted(text []byte) string {
	var v any
	json.Unmarshal(text, &v)
	out, _ := json.Marshal(v)
	return string(out)
}

// print shows an object or a Status.
func (w *writes) print(path string, body []byte) string {
	var v struct {
		Kind     string
		Metadata metav1.ObjectMeta
	}
	var whole map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if json.Unmarshal(body, &v) != nil || d.Decode(&whole) != nil {
		return string(body)
	}
	if v.Kind == "Status" {
		var s metav1.Status
		json.Unmarshal(body, &s)
		return transcript.Status(&s, transcript.Plain)
	}
	out := "the same revision\n"
	key := strings.TrimSuffix(path, "/"+v.Metadata.Name) + "/" + v.Metadata.Name
	for _, sub := range []string{"/status/", "/scale/", "/ephemeralcontainers/", "/resize/", "/approval/", "/finalize/"} {
		key = strings.Replace(key, "/"+v.Metadata.Name+sub, "/", 1)
	}
	if rv := v.Metadata.ResourceVersion; rv != w.revision[key] {
		w.revision[key], out = rv, "a new revision\n"
	}
	meta := whole["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "name", "namespace"} {
		delete(meta, name)
	}
	delete(whole, "apiVersion")
	delete(whole, "kind")
	text, err := json.Marshal(whole)
	if err != nil {
		w.t.Fatal(err)
	}
	out += transcript.Plain(string(text)) + "\n"
	var lines []string
	for _, e := range v.Metadata.ManagedFields {
		when := ""
		if e.Time == nil {
			when = " (no time)"
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %q %s %s", e.Operation, e.Manager, e.APIVersion, e.Subresource), " ")+when+" "+sorted(e.FieldsV1.GetRawBytes()))
	}
	slices.Sort(lines)
	return out + strings.Join(lines, "\n")
}
