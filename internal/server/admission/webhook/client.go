package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/transport"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/reach"
)

// clients keeps an HTTP client for each server name and CA, so that connections are reused.
type clients struct {
	network *reach.Network
	// credentials are those of the server by the webhook's host and port; nil is without credentials.
	credentials utilwebhook.AuthenticationInfoResolver
	mu          struct {
		sync.Mutex
		known map[identity]*http.Client
	}
}

// identity is the key by which webhooks share connections. The map is bounded: when it is full it is emptied.
type identity struct{ base, ca string }

// authority returns the host and port of the webhook.
func (id identity) authority() string {
	_, at, _ := strings.Cut(id.base, "://")
	if u, err := url.Parse(id.base); err == nil && u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return at
}

const maxClients = 200

func newClients(n *reach.Network, credentials utilwebhook.AuthenticationInfoResolver) *clients {
	c := &clients{network: n, credentials: credentials}
	c.mu.known = map[identity]*http.Client{}
	return c
}

// of returns the client and the URL to post to.
func (c *clients) of(config *admissionv1.WebhookClientConfig) (*http.Client, string, error) {
	base, path := "", ""
	var resolve func(context.Context) (string, error)
	switch s := config.Service; {
	case s != nil:
		port := ptr.Deref(s.Port, 443)
		base = "https://" + net.JoinHostPort(s.Name+"."+s.Namespace+".svc", strconv.Itoa(int(port)))
		path = ptr.Deref(s.Path, "")
		resolve = func(ctx context.Context) (string, error) {
			return c.network.Service(ctx, s.Namespace, s.Name, port)
		}
	case config.URL != nil && *config.URL != "":
		u, err := url.Parse(*config.URL)
		if err != nil {
			return nil, "", fmt.Errorf("Unparsable URL: %v", err)
		}
		base, path = u.Scheme+"://"+u.Host, u.Path
	default:
		return nil, "", errors.New("webhook configuration must have either service or URL")
	}
	client, err := c.client(identity{base, string(config.CABundle)}, resolve)
	return client, base + "/" + strings.TrimPrefix(path, "/"), err
}

func (c *clients) client(id identity, resolve func(context.Context) (string, error)) (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.mu.known[id]; client != nil {
		return client, nil
	}
	client, err := c.newClient(id, resolve)
	if err != nil {
		return nil, err
	}
	if len(c.mu.known) >= maxClients {
		for _, old := range c.mu.known {
			old.CloseIdleConnections()
		}
		clear(c.mu.known)
	}
	c.mu.known[id] = client
	return client, nil
}

// newClient returns a client that verifies the webhook by its CA and authenticates by the credentials for it.
func (c *clients) newClient(id identity, resolve func(context.Context) (string, error)) (*http.Client, error) {
	own := &transport.Config{}
	if c.credentials != nil {
		chosen, err := c.credentials.ClientConfigFor(id.authority())
		if err != nil {
			return nil, err
		}
		chosen.UserAgent = "" // each request has its own
		if own, err = chosen.TransportConfig(); err != nil {
			return nil, err
		}
	}
	if own.TLS.CAData = []byte(id.ca); id.ca == "" {
		own.TLS.CAData = nil
	}
	config, err := transport.TLSConfigFor(own)
	if err != nil {
		return nil, err
	}
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	base := c.network.Transport(config)
	var chain http.RoundTripper = base
	if resolve != nil {
		config.ServerName = strings.TrimPrefix(id.base, "https://")
		config.ServerName, _, _ = net.SplitHostPort(config.ServerName)
		chain = resolving{base, resolve}
	} else {
		base.Proxy = c.network.Proxied
	}
	if chain, err = transport.HTTPWrappersForConfig(own, chain); err != nil {
		return nil, err
	}
	return &http.Client{Transport: chain}, nil
}

// resolving sends each request to the present endpoint of its service.
type resolving struct {
	*http.Transport
	resolve func(context.Context) (string, error)
}

// RoundTrip implements http.RoundTripper.
func (t resolving) RoundTrip(req *http.Request) (*http.Response, error) {
	address, err := t.resolve(req.Context())
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	if out.Host == "" {
		out.Host = req.URL.Host
	}
	out.URL.Host = address
	return t.Transport.RoundTrip(out)
}
