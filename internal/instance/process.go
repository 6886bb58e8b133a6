package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"fairlead.dev/internal/controlplane/pki"
)

// ErrStopped means that no process has the instance.
var ErrStopped = errors.New("is not running")

// Process is the running process of an instance, as seen by another one. Make it with Connect.
type Process struct {
	instance Instance
	client   *http.Client
}

// Connect returns the process of the instance. Errors: ErrStopped.
func (i Instance) Connect() (*Process, error) {
	path := i.socketPath()
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%s %w", i, ErrStopped)
	}
	c.Close()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Process{i, &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// socketPath is the path of the socket of its process.
func (i Instance) socketPath() string {
	if text, err := os.ReadFile(i.path("socket")); err == nil {
		return strings.TrimSpace(string(text))
	}
	return i.path("control.sock")
}

// Status returns the state of the process.
func (p *Process) Status(ctx context.Context) (s Status, err error) {
	return s, p.do(ctx, http.MethodGet, "/status", nil, &s)
}

// Stop ends the process gracefully and returns when it has ended.
func (p *Process) Stop(ctx context.Context) error {
	err := p.do(ctx, http.MethodPost, "/stop", nil, nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.As(err, new(refusal)) {
		return err
	}
	return nil // the connection has ended with the process
}

// Reset removes all objects and returns when the server answers again.
func (p *Process) Reset(ctx context.Context) error {
	return p.do(ctx, http.MethodPost, "/reset", nil, nil)
}

// Certificates describes the certificates and keys.
func (p *Process) Certificates(ctx context.Context) (items []pki.Item, err error) {
	return items, p.do(ctx, http.MethodGet, "/pki", nil, &items)
}

// Renew replaces certificates and keys, and returns when the server has the new ones.
func (p *Process) Renew(ctx context.Context, r pki.Renewal) error {
	return p.do(ctx, http.MethodPost, "/pki/renew", r, nil)
}

// Save writes the cluster to a file, whose path is absolute.
func (p *Process) Save(ctx context.Context, file string, progress Progress) (Saved, error) {
	return p.doFile(ctx, "/save", file, progress)
}

// Load replaces the cluster by that of a file, whose path is absolute, and returns when the server answers again.
func (p *Process) Load(ctx context.Context, file string, progress Progress) (Saved, error) {
	return p.doFile(ctx, "/load", file, progress)
}

// doFile sends a request about a file, and reads the lines of the response.
func (p *Process) doFile(ctx context.Context, path, file string, progress Progress) (s Saved, err error) {
	return s, p.stream(ctx, http.MethodPost, path, fileRequest{file}, func(lines *json.Decoder) error {
		for {
			var line fileResponse
			if err := lines.Decode(&line); err != nil {
				return fmt.Errorf("%s: %w", p.instance, err)
			}
			switch {
			case line.Error != "":
				return refusal{errors.New(line.Error)}
			case line.Saved != nil:
				s = *line.Saved
				return nil
			}
			progress(line.Done, line.Total)
		}
	})
}

// refusal is the error of a command that the process has refused.
type refusal struct{ error }

// do sends a request and decodes the response into result, if that is not nil.
func (p *Process) do(ctx context.Context, method, path string, body, result any) error {
	return p.stream(ctx, method, path, body, func(response *json.Decoder) error {
		if result == nil {
			return nil
		}
		return response.Decode(result)
	})
}

// stream sends a request and has its response read.
func (p *Process) stream(ctx context.Context, method, path string, body any, read func(*json.Decoder) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, method, "http://instance"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	res, err := p.client.Do(q)
	if err != nil {
		return fmt.Errorf("%s: %w", p.instance, err)
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return read(json.NewDecoder(res.Body))
	case http.StatusNotFound:
		return refusal{fmt.Errorf("the process of %s is of another version, which does not know this command", p.instance)}
	}
	var f failure
	if err := json.NewDecoder(res.Body).Decode(&f); err != nil {
		return fmt.Errorf("%s: %w", p.instance, err)
	}
	return refusal{errors.New(f.Error)}
}
