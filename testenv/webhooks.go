package testenv

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Webhooks is where the test has to serve the webhooks of Options.Webhooks, and the conversion webhooks of
// Options.CRDs: the zero value without any. controller-runtime's webhook.Options have fields of the same names.
type Webhooks struct {
	// Host and Port are the address at which the API server calls them.
	Host string
	Port int
	// CertDir is a directory with the serving certificate tls.crt and its key tls.key. It is removed by Stop.
	CertDir string
}

func (w Webhooks) address() string { return net.JoinHostPort(w.Host, strconv.Itoa(w.Port)) }

var webhookKinds = kinds{"admissionregistration.k8s.io/v1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}}

// clientConfigs returns the clientConfig of each webhook in a manifest, by a description of the webhook.
func clientConfigs(m manifest) (configs map[string]map[string]any) {
	configs = map[string]map[string]any{}
	if m.kind() == crdKind {
		spec, _ := m.data["spec"].(map[string]any)
		conversion, _ := spec["conversion"].(map[string]any)
		if conversion["strategy"] == "Webhook" {
			webhook, _ := conversion["webhook"].(map[string]any)
			configs["the conversion webhook"], _ = webhook["clientConfig"].(map[string]any)
		}
		return configs
	}
	list, _ := m.data["webhooks"].([]any)
	for _, w := range list {
		w, _ := w.(map[string]any)
		configs[fmt.Sprintf("webhook %q", text(w, "name"))], _ = w["clientConfig"].(map[string]any)
	}
	return configs
}

// checkWebhooks reports webhooks that call no service. It returns how many call one.
func checkWebhooks(all []manifest) (n int, err error) {
	for _, m := range all {
		for what, config := range clientConfigs(m) {
			if _, ok := config["service"].(map[string]any); !ok {
				return 0, fmt.Errorf("%s: %s of %s %q has no service, whose place the test could take", m.from, what, m.kind(), m.name())
			}
			n++
		}
	}
	return n, nil
}

// redirect replaces the services of webhooks by URLs of the test.
func (e *Env) redirect(all []manifest) {
	address := "https://" + e.webhooks.address()
	for _, m := range all {
		for _, config := range clientConfigs(m) {
			path := text(config, "service", "path")
			if path != "" && !strings.HasPrefix(path, "/") {
				path = "/" + path
			}
			delete(config, "service")
			config["url"], config["caBundle"] = address+path, e.authority.pem
		}
	}
}

// prepareWebhooks chooses the port of the webhooks, and writes the serving certificate.
func (e *Env) prepareWebhooks() (err error) {
	w := Webhooks{Host: "127.0.0.1", CertDir: filepath.Join(e.dir, "webhooks")}
	if w.Port, err = freePort(); err != nil {
		return err
	}
	certificate, key, err := e.authority.serving()
	if err != nil {
		return err
	}
	if err := os.Mkdir(w.CertDir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.CertDir, "tls.crt"), certificate, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.CertDir, "tls.key"), key, 0o600); err != nil {
		return err
	}
	e.webhooks = w
	return nil
}

// createWebhooks creates the configurations of webhooks.
func (e *Env) createWebhooks(ctx context.Context, all []manifest) error {
	for _, m := range all {
		path := "/apis/" + webhookKinds.apiVersion + "/" + strings.ToLower(m.kind()) + "s"
		if err := e.api.do(ctx, http.MethodPost, path, m.data, nil); err != nil {
			return fmt.Errorf("%s: %s %q: %w", m.from, m.kind(), m.name(), err)
		}
	}
	return nil
}

// Webhooks returns where the test has to serve its webhooks.
func (e *Env) Webhooks() Webhooks { return e.webhooks }

// ports are those that environments of this process have been given. The system may choose a port again before the
// test listens on it.
var ports struct {
	sync.Mutex
	given map[int]bool
}

// freePort returns a port of the loopback interface that is free, and no other environment's of this process.
func freePort() (int, error) {
	ports.Lock()
	defer ports.Unlock()
	if ports.given == nil {
		ports.given = map[int]bool{}
	}
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		defer l.Close() // after the search, or the next one may be the same
		if port := l.Addr().(*net.TCPAddr).Port; !ports.given[port] {
			ports.given[port] = true
			return port, nil
		}
	}
}
