package aggregate

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/client-go/transport"

	"fairlead.dev/internal/server/auth"
)

// aggregator is the user of discovery requests to remotes.
var aggregator = auth.User{Name: "system:kube-aggregator", Groups: []string{auth.MastersGroup}}

// ask gets a document of the remote. The caller closes its body.
func (s *Services) ask(ctx context.Context, r *remote, path, accept string) (*http.Response, error) {
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	resp, err := s.send(ctx, r, &aggregator, path, header)
	if err == nil && (resp.StatusCode < 200 || resp.StatusCode >= 300) {
		resp.Body.Close()
		url := resp.Request.URL
		err = fmt.Errorf("failing or missing response from %v: bad status from %v: %d", url, url, resp.StatusCode)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// send requests a document of the remote as a user.
func (s *Services) send(ctx context.Context, r *remote, as *auth.User, path string, header http.Header) (*http.Response, error) {
	address, err := s.address(ctx, r)
	if err != nil {
		return nil, err
	}
	url := "https://" + address + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	transport.SetAuthProxyHeaders(req, as.Name, "", as.Groups, nil)
	client := &http.Client{Transport: r.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("failing or missing response from %v: %w", url, err)
	}
	return resp, nil
}
