package kubeapiserver_test

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
)

// policyFile writes a policy that records ConfigMaps at the level, and Secrets without bodies.
func policyFile(t *testing.T, level string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	text := `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
{"level": "` + level + `", "resources": [{"resources": ["configmaps"]}]},
{"level": "Metadata", "resources": [{"resources": ["secrets"]}]},
{"level": "None"}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventsIn returns the events of log files.
func eventsIn(t *testing.T, files ...string) (events []auditv1.Event) {
	t.Helper()
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e auditv1.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v in %s", path, err, line)
			}
			events = append(events, e)
		}
	}
	return events
}

func makeConfigMap(t *testing.T, c *kubernetes.Clientset, name, value string) error {
	t.Helper()
	_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"key": value}}, metav1.CreateOptions{})
	return err
}

// TestAuditLog: the policy says how much of a request is in the log.
func TestAuditLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "new", "audit.log")
	t.Run("requests", func(t *testing.T) {
		as := start(t, "--audit-policy-file="+policyFile(t, "RequestResponse"), "--audit-log-path="+log)
		root := as("root-token")
		if err := makeConfigMap(t, root, "a", "shown"); err != nil {
			t.Fatal(err)
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"key": "hidden"}}
		if _, err := root.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := root.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := list(t, as("wrong-token")); !apierrors.IsUnauthorized(err) {
			t.Error(err)
		}
		eventually(t, "three events counted", func() bool { return sample(t, root.Discovery().RESTClient(), "apiserver_audit_event_total") >= 3 })
	})
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log's mode is %v %v, want 0600", info.Mode(), err)
	}
	if strings.Contains(string(text), "hidden") || strings.Contains(string(text), "aGlkZGVu") {
		t.Errorf("the log has the value of a secret: %s", text)
	}
	events := eventsIn(t, log)
	of := func(resource, verb string) *auditv1.Event {
		for i, e := range events {
			if e.ObjectRef.Resource == resource && e.Verb == verb {
				return &events[i]
			}
		}
		t.Fatalf("no event of %s %s in %s", verb, resource, text)
		return nil
	}
	made := of("configmaps", "create")
	if made.User.Username != "root" || made.ObjectRef.Name != "a" || made.ResponseStatus.Code != http.StatusCreated || made.Stage != auditv1.StageResponseComplete ||
		!strings.Contains(string(made.RequestObject.Raw), "shown") || !strings.Contains(string(made.ResponseObject.Raw), `"uid":`) ||
		made.Annotations["authorization.k8s.io/decision"] != "allow" {
		t.Errorf("a create: %+v", made)
	}
	if e := of("secrets", "create"); e.Level != auditv1.LevelMetadata || e.RequestObject != nil || e.ResponseObject != nil {
		t.Errorf("a create of a secret: %+v", e)
	}
	if e := of("configmaps", "list"); e.ResponseStatus.Code != http.StatusUnauthorized || e.User.Username != "" {
		t.Errorf("a request with a wrong token: %+v", e)
	}
	for _, e := range events {
		if e.ObjectRef.Resource == "pods" {
			t.Errorf("an event that the policy leaves out: %+v", e)
		}
	}
}

// TestAuditLogRotation: a file does not become larger than its limit, and old ones are kept.
func TestAuditLogRotation(t *testing.T) {
	dir := t.TempDir()
	const objects = 8 // of 300 kB: once in the request, once in the response
	t.Run("requests", func(t *testing.T) {
		as := start(t, "--audit-policy-file="+policyFile(t, "RequestResponse"), "--audit-log-path="+filepath.Join(dir, "audit.log"), "--audit-log-maxsize=1")
		for i := range objects {
			if err := makeConfigMap(t, as("root-token"), string(rune('a'+i)), strings.Repeat("x", 300_000)); err != nil {
				t.Fatal(err)
			}
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < objects*6/10 {
		t.Errorf("%d files for %d events of 0.6 MB: %q", len(files), objects, files)
	}
	if events := eventsIn(t, files...); len(events) != objects {
		t.Errorf("%d events in all files, want %d", len(events), objects)
	}
}

// TestAuditFlush: events that wait for a batch are written when the server stops.
func TestAuditFlush(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	t.Run("requests", func(t *testing.T) {
		as := start(t, "--audit-policy-file="+policyFile(t, "Metadata"), "--audit-log-path="+log, "--audit-log-mode=batch",
			"--audit-log-batch-max-size=1000", "--audit-log-batch-max-wait=1h")
		if err := makeConfigMap(t, as("root-token"), "a", ""); err != nil {
			t.Fatal(err)
		}
		if events := eventsIn(t, log); len(events) > 0 {
			t.Errorf("events before the batch is full: %+v", events)
		}
	})
	if events := eventsIn(t, log); len(events) != 1 {
		t.Errorf("%d events after the end of the server, want 1", len(events))
	}
}

// auditWebhook collects the events that are sent to it. It refuses them while it is closed.
type auditWebhook struct {
	config string        // the file that leads to it
	called chan struct{} // has an element after a call

	mu      sync.Mutex
	closed  bool
	refused int
	events  []auditv1.Event
}

func newAuditWebhook(t *testing.T) *auditWebhook {
	t.Helper()
	w := &auditWebhook{config: filepath.Join(t.TempDir(), "audit.kubeconfig"), called: make(chan struct{}, 1)}
	server := httptest.NewTLSServer(w)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": server.URL, "certificate-authority-data": ca}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *auditWebhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	defer func() {
		select {
		case w.called <- struct{}{}:
		default:
		}
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	var list auditv1.EventList
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || w.closed {
		w.refused++
		http.Error(rw, "closed", http.StatusServiceUnavailable)
		return
	}
	w.events = append(w.events, list.Items...)
}

func (w *auditWebhook) close(closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = closed
}

// names returns the names of the objects of the events, and how many calls were refused.
func (w *auditWebhook) names() (names []string, refused int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		names = append(names, e.ObjectRef.Name)
	}
	return names, w.refused
}

// wait returns when a call has made is return true.
func (w *auditWebhook) wait(t *testing.T, what string, is func(names []string, refused int) bool) {
	t.Helper()
	timeout := time.After(patience)
	for !is(w.names()) {
		select {
		case <-w.called:
		case <-timeout:
			t.Fatal("the webhook does not get ", what)
		}
	}
}

// TestAuditWebhook: a webhook that has no answer gets the events later, and requests do not wait for it.
func TestAuditWebhook(t *testing.T) {
	webhook := newAuditWebhook(t)
	webhook.close(true)
	as := start(t, "--audit-policy-file="+policyFile(t, "Metadata"), "--audit-webhook-config-file="+webhook.config,
		"--audit-webhook-batch-max-wait=10ms", "--audit-webhook-initial-backoff=10ms")
	if err := makeConfigMap(t, as("root-token"), "a", ""); err != nil {
		t.Fatal(err)
	}
	webhook.wait(t, "a call while it is closed", func(_ []string, refused int) bool { return refused > 0 })
	webhook.close(false)
	webhook.wait(t, "the event", func(names []string, _ int) bool { return slices.Equal(names, []string{"a"}) })
}

// TestAuditStrict: a request whose first event cannot be written is refused, and has no effect.
func TestAuditStrict(t *testing.T) {
	webhook := newAuditWebhook(t)
	policy := policyFile(t, "Metadata")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, policy, bytes.Replace(text, []byte(`"RequestReceived"`), nil, 1)) // with all stages
	as := start(t, "--audit-policy-file="+policy, "--audit-webhook-config-file="+webhook.config, "--audit-webhook-mode=blocking-strict",
		"--audit-webhook-initial-backoff=1ms")
	root := as("root-token")
	webhook.close(true)
	if err := makeConfigMap(t, root, "a", ""); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "failed to store audit event") {
		t.Errorf("without the webhook: %v", err)
	}
	webhook.close(false)
	if _, err := root.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the refused object: %v", err)
	}
	if err := makeConfigMap(t, root, "a", ""); err != nil {
		t.Error(err)
	}
}

// TestAuditErrors has wrong files and flags.
func TestAuditErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Everything"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	log := "--audit-log-path=" + filepath.Join(dir, "audit.log")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--audit-policy-file=" + filepath.Join(dir, "none"), log}, []string{"the audit policy", "no such file"}},
		{[]string{"--audit-policy-file=" + bad, log}, []string{"the audit policy", `"Everything"`}},
		{[]string{"--audit-policy-file=" + policyFile(t, "Metadata"), "--audit-log-path=" + filepath.Join(bad, "audit.log")}, []string{"the audit log", "not a directory"}},
		{[]string{"--audit-policy-file=" + policyFile(t, "Metadata"), "--audit-webhook-config-file=" + filepath.Join(dir, "none")}, []string{"the audit webhook", "no such file"}},
		{[]string{log, "--audit-log-mode=sometimes", "--audit-log-format=xml"}, []string{"--audit-log-mode=sometimes: want batch, blocking, blocking-strict", "--audit-log-format=xml: want legacy or json"}},
		{[]string{log, "--audit-log-maxage=-1", "--audit-log-version=v2"}, []string{"--audit-log-maxage=-1: want 0 or more", "--audit-log-version=v2: want audit.k8s.io/v1"}},
		{[]string{log, "--audit-log-mode=batch", "--audit-log-batch-buffer-size=0"}, []string{"--audit-log-batch-buffer-size=0: want a positive number"}},
		{[]string{"--audit-webhook-config-file=x", "--audit-webhook-truncate-max-batch-size=1"}, []string{"--audit-webhook-truncate-max-batch-size=1: want no less than --audit-webhook-truncate-max-event-size=102400"}},
	} {
		err := startFails(t, c.args...)
		for _, want := range c.want {
			if !strings.Contains(err, want) {
				t.Errorf("%q: %s, want %q", c.args, err, want)
			}
		}
	}
}
