package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"fairlead.dev/internal/bodies"
	"fairlead.dev/trace"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// REST sends plain requests to the server: it knows addresses, credentials, retries
// and Status errors, but no types. It is safe for concurrent use.
type REST struct {
	http    *http.Client
	base    url.URL
	agent   string // how requests introduce themselves
	timeout time.Duration
	limit   flowcontrol.RateLimiter
	warn    func(ctx context.Context, code int, agent, text string)
	observe func(context.Context, Exchange) // may be nil
	silence time.Duration                   // limit; no limit below zero
	contact *outageLog
}

// Request is one plain request.
type Request struct {
	Method      string     // GET if empty
	Path        string     // from the server's root: "/api/v1/namespaces"
	Query       url.Values // may be nil
	Body        []byte     // nil for no body
	ContentType string     // of Body; JSON if empty
	Accept      string     // ContentTypeJSON if empty
}

// Response is a whole answer with a status of 2xx.
type Response struct {
	Code   int
	Header http.Header
	Body   []byte
}

// free returns the body's buffer to the pool. No reference to the body may remain.
func (r *Response) free() {
	bodies.Free(r.Body)
}

func newREST(cfg *rest.Config, o Options) (*REST, error) {
	if cfg.Host == "" {
		cfg.Host = "localhost"
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	// The agent is set as each request is made: a transport that sets it copies the request.
	agent := cfg.UserAgent
	cfg.UserAgent = ""
	// Not rest.HTTPClientFor: it puts the timeout where it would end watches too.
	rt, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	r := &REST{http: &http.Client{Transport: rt}, base: *base, agent: agent, timeout: cfg.Timeout, limit: cfg.RateLimiter, observe: o.Observe, silence: o.Silence, contact: &outageLog{server: base.Scheme + "://" + base.Host}}
	if r.silence == 0 {
		r.silence = silence
	}
	switch {
	case cfg.WarningHandlerWithContext != nil:
		r.warn = cfg.WarningHandlerWithContext.HandleWarningHeaderWithContext
	case cfg.WarningHandler != nil:
		h := cfg.WarningHandler
		r.warn = func(_ context.Context, code int, agent, text string) { h.HandleWarningHeader(code, agent, text) }
	}
	return r, nil
}

// Do sends q and reads the whole answer. Any status but 2xx comes back as a
// *apierrors.StatusError.
func (r *REST) Do(ctx context.Context, q Request) (*Response, error) {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	for attempt := 0; ; attempt++ {
		res, x, begun, err := r.send(ctx, q, attempt, r.silence)
		if err != nil {
			return nil, err
		}
		body, err := readAll(res)
		x.Received, x.Err = len(body), err
		r.observed(ctx, x, begun)
		if err == nil {
			return &Response{Code: res.StatusCode, Header: res.Header, Body: body}, nil
		}
		attempt = x.Attempt
		if x.Method != http.MethodGet || !broken(err) || !pause(ctx, attempt, brokenDelay) {
			return nil, fmt.Errorf("client: reading the answer of %s: %w", q.Path, err)
		}
	}
}

// Stream sends q and returns the answer with its body unread; the caller closes it.
// The stream ends when ctx does, and may be silent as long as it likes. Errors are as
// for Do.
func (r *REST) Stream(ctx context.Context, q Request) (*http.Response, error) {
	return r.stream(ctx, q, -1)
}

// stream is Stream that ends with ErrSilent when it is silent for so long.
func (r *REST) stream(ctx context.Context, q Request, silence time.Duration) (*http.Response, error) {
	res, x, begun, err := r.send(ctx, q, 0, silence)
	if err == nil {
		r.observed(ctx, x, begun)
	}
	return res, err
}

// Address returns the URL of a path on the server.
func (r *REST) Address(path string, query url.Values) *url.URL {
	u := r.base
	u.Path = joinPath(u.Path, path)
	u.RawQuery = query.Encode()
	return &u
}

// send repeats q until the response is 2xx or a retry is pointless. attempt counts the
// caller's attempts so far. Failures are observed here; a response is returned with its
// Exchange so far, for the caller to read and observe.
func (r *REST) send(ctx context.Context, q Request, attempt int, silence time.Duration) (*http.Response, Exchange, time.Time, error) {
	if q.Method == "" {
		q.Method = http.MethodGet
	}
	for ; ; attempt++ {
		x := Exchange{Method: q.Method, Host: r.base.Host, Path: q.Path, Attempt: attempt, Sent: len(q.Body)}
		if r.limit != nil {
			begun := time.Now()
			if err := r.limit.Wait(ctx); err != nil {
				return nil, x, begun, err
			}
			x.Waited = time.Since(begun)
		}
		begun := time.Now()
		heard, l := listen(ctx, silence)
		res, err := r.once(heard, q)
		if err != nil {
			err = silent(heard, err)
			l.stop()
			x.Err = err
			r.contact.failed(err)
			r.observed(ctx, x, begun)
			if q.Method == http.MethodGet && broken(err) && pause(ctx, attempt, brokenDelay) {
				continue
			}
			return nil, x, begun, err
		}
		l.heard()
		r.contact.answered()
		heed(heard, res, l)
		x.Code = res.StatusCode
		if res.StatusCode >= 200 && res.StatusCode < 300 {
			return res, x, begun, nil
		}
		wait, again := retryAfter(res)
		err = statusError(q, res)
		r.observed(ctx, x, begun)
		if !again || !pause(ctx, attempt, wait) {
			return nil, x, begun, err
		}
	}
}

func (r *REST) once(ctx context.Context, q Request) (*http.Response, error) {
	var body io.Reader
	if q.Body != nil {
		body = bytes.NewReader(q.Body)
	}
	req, err := http.NewRequestWithContext(ctx, q.Method, "", body)
	if err != nil {
		return nil, err
	}
	req.URL = r.Address(q.Path, q.Query)
	req.Host = req.URL.Host
	req.Header.Set("User-Agent", r.agent)
	req.Header.Set("Accept", cmp.Or(q.Accept, ContentTypeJSON))
	if q.Body != nil {
		req.Header.Set("Content-Type", cmp.Or(q.ContentType, ContentTypeJSON))
	}
	if p := trace.FromContext(ctx); p != nil && q.Method != http.MethodGet {
		p.Set(req.Header)
	}
	if err := guarded(ctx, q.Method); err != nil {
		return nil, err
	}
	res, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	if ws := res.Header["Warning"]; len(ws) > 0 && r.warn != nil {
		parsed, _ := utilnet.ParseWarningHeaders(ws)
		for _, w := range parsed {
			r.warn(ctx, w.Code, w.Agent, w.Text)
		}
	}
	return res, nil
}

// readAll reads and closes the body, into one buffer of the right size if that is known.
func readAll(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	if whole, ok := res.Body.(*bodies.Body); ok {
		return whole.Take(), nil
	}
	if n := res.ContentLength; n > 0 && n < 64<<20 {
		b := bodies.Room(int(n))
		_, err := io.ReadFull(res.Body, b)
		return b, err
	}
	return io.ReadAll(res.Body)
}

func joinPath(a, b string) string {
	for len(a) > 0 && a[len(a)-1] == '/' {
		a = a[:len(a)-1]
	}
	if b == "" || b[0] != '/' {
		b = "/" + b
	}
	return a + b
}
