package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// client is one HTTP/2 connection of a user.
type client struct {
	base  string
	token string
	http  *http.Client
}

func newClient(base string, who credentials) *client {
	t := &http.Transport{
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
		// The server was started by us and listens on this machine only.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	if who.cert != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*who.cert}
	}
	return &client{base: base, token: who.token, http: &http.Client{Transport: t}}
}

// dial is newClient with the connection open, so that all that comes shares it.
func dial(ctx context.Context, base string, who credentials) (*client, error) {
	c := newClient(base, who)
	return c, c.call(ctx, request{path: "/version", want: http.StatusOK})
}

func (c *client) close() { c.http.CloseIdleConnections() }

// request is one request and the answer it wants.
type request struct {
	method      string // GET if empty
	path        string
	accept      string // JSON if empty
	contentType string // JSON if empty
	body        []byte
	want        int
	// read takes the answer's body; nil does without.
	read func(io.Reader) error
}

// call makes a request and reads its answer to the end.
func (c *client) call(ctx context.Context, r request) error {
	body, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer body.Close()
	if r.read != nil {
		if err := r.read(body); err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
	}
	_, err = io.Copy(io.Discard, body)
	return err
}

// open makes a request and leaves the body of its answer to the caller.
func (c *client) open(ctx context.Context, r request) (io.ReadCloser, error) {
	if r.method == "" {
		r.method = http.MethodGet
	}
	q, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("User-Agent", "bench")
	q.Header.Set("Accept", cmp.Or(r.accept, mediaJSON))
	if r.body != nil {
		q.Header.Set("Content-Type", cmp.Or(r.contentType, mediaJSON))
	}
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	a, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	if a.StatusCode != r.want || a.ProtoMajor != 2 {
		text, _ := io.ReadAll(io.LimitReader(a.Body, 500))
		a.Body.Close()
		if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && a.StatusCode == http.StatusTooManyRequests {
			return nil, &refusal{fmt.Errorf("%s %s: %s", r.method, r.path, text), time.Duration(seconds) * time.Second}
		}
		return nil, fmt.Errorf("%s %s: %s %s, want %d: %s", r.method, r.path, a.Proto, a.Status, r.want, text)
	}
	return a.Body, nil
}

const (
	mediaJSON  = "application/json"
	mediaProto = "application/vnd.kubernetes.protobuf"
	mediaMerge = "application/merge-patch+json"
)
