package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// apiClient makes an environment's own requests to its API server, as the administrator.
type apiClient struct {
	base string
	http *http.Client
}

func newAPIClient(config *rest.Config) (*apiClient, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	return &apiClient{config.Host, &http.Client{Transport: &http.Transport{TLSClientConfig: tls, DialContext: config.Dial, ForceAttemptHTTP2: true}}}, nil
}

func (c *apiClient) close() { c.http.CloseIdleConnections() }

// statusError is an answer that is no success.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string { return e.message }

// stream makes a request and returns the body of its answer.
func (c *apiClient) stream(ctx context.Context, method, path, accept string, body any) (io.ReadCloser, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		data = nil
	}
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	q.Header.Set("User-Agent", userAgent)
	q.Header.Set("Accept", accept)
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res.Body, nil
	}
	defer res.Body.Close()
	data, err = io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var status struct{ Message string }
	if json.Unmarshal(data, &status) != nil || status.Message == "" {
		status.Message = fmt.Sprintf("%s %s: %s", method, path, res.Status)
	}
	return nil, &statusError{res.StatusCode, status.Message}
}

// do makes a request, and decodes the JSON of its answer unless into is nil.
func (c *apiClient) do(ctx context.Context, method, path string, body, into any) error {
	in, err := c.stream(ctx, method, path, "application/json, */*", body)
	if err != nil {
		return err
	}
	defer in.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, in)
		return err
	}
	return json.NewDecoder(in).Decode(into)
}

func (c *apiClient) get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, nil, into)
}

// text returns an answer as plain text.
func (c *apiClient) text(ctx context.Context, path string) (string, error) {
	in, err := c.stream(ctx, http.MethodGet, path, "text/plain, */*", nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	return string(data), err
}
