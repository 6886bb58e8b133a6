package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
)

// Options configure the receiver.
type Options struct {
	// Endpoint is the receiver's URL. One without a path gets OTLP's: /v1/traces.
	Endpoint string
	// Header is sent with each request.
	Header http.Header
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Log receives errors; nil is slog.Default.
	Log *slog.Logger
}

const (
	// settled is how long an event must have had no new hop before it is sent.
	settled = time.Second
	// maxEvents is the maximum number of events in a request.
	maxEvents = 512
	// firstPause and longestPause are between attempts.
	firstPause, longestPause = time.Second, 30 * time.Second
	// patience is the timeout of a request, goodbye that of the last ones together.
	patience, goodbye = 10 * time.Second, 2 * time.Second
)

// Check returns an error if the endpoint is not valid.
func Check(endpoint string) error {
	_, err := traces(endpoint)
	return err
}

// traces is the URL to post to.
func traces(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q: want a URL such as http://localhost:4318", endpoint)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// exporter is one Run.
type exporter struct {
	log    *trace.Log
	url    string
	header http.Header
	client http.Client
	tell   *slog.Logger
	spans  show.Exporter
	next   int64 // the first revision that has not been sent
	// failures is how many requests in a row the receiver has not taken.
	failures int
}

// Run sends the events in the log, and new ones, until ctx ends; then it sends the rest, if
// the receiver accepts it within two seconds. It returns an error only for an invalid
// endpoint.
func Run(ctx context.Context, l *trace.Log, o Options) error {
	to, err := traces(o.Endpoint)
	if err != nil {
		return err
	}
	x := &exporter{log: l, url: to, header: o.Header, client: http.Client{Transport: o.Transport}, tell: cmp.Or(o.Log, slog.Default()), next: 1}
	for ctx.Err() == nil {
		changed := l.Changed()
		more, wait := x.turn(ctx, time.Now().Add(-settled))
		if !more {
			select {
			case <-ctx.Done():
				continue
			case <-changed:
			}
			wait = settled
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	for more := true; more && x.failures == 0 && last.Err() == nil; {
		more, _ = x.turn(last, time.Now().Add(time.Hour)) // settled or not
	}
	return nil
}

// turn sends one request with events whose last hop was before a time. more reports whether
// to call again after wait even if no new event arrives.
func (x *exporter) turn(ctx context.Context, before time.Time) (more bool, wait time.Duration) {
	batch, more := x.ready(before)
	if len(batch) == 0 {
		return more, settled
	}
	request, err := x.spans.Request(batch)
	if err == nil {
		wait, err = x.post(ctx, request)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return true, 0
	case err != nil && wait > 0: // to be tried again
		if x.failures++; x.failures == 1 {
			x.tell.Warn("the receiver of traces does not answer", "endpoint", x.url, "err", err)
		}
		return true, wait
	case err != nil:
		x.tell.Warn("the receiver of traces refuses events", "endpoint", x.url, "events", len(batch), "err", err)
	case x.failures > 0:
		x.tell.Info("the receiver of traces answers again", "endpoint", x.url)
	}
	x.failures = 0
	if first := batch[0].Revision; x.next > 1 && first > x.next {
		x.tell.Warn("events left the log before they could be sent as traces", "revisions", first-x.next)
	}
	x.next = batch[len(batch)-1].Revision + 1
	return more, 0
}

// ready are the next events that are settled, and whether there are others.
func (x *exporter) ready(before time.Time) (batch []show.Event, more bool) {
	lives := x.log.Lives(trace.Filter{From: x.next})
	for _, lf := range lives {
		if len(batch) == maxEvents || lf.Began.Add(lf.Duration()).After(before) {
			return batch, true
		}
		batch = append(batch, show.Event{Life: lf})
	}
	return batch, false
}

// post sends a request. With an error, wait is after how long to try again; 0 for never.
func (x *exporter) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, values := range x.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := x.client.Do(req)
	if err != nil {
		return x.pause(""), err
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return x.pause(res.Header.Get("Retry-After")), errors.New(res.Status)
	}
	return 0, errors.New(res.Status)
}

// pause is the time until the next attempt: as long as the receiver asks, if it asks in
// seconds.
func (x *exporter) pause(asked string) time.Duration {
	if s, err := strconv.Atoi(asked); err == nil && s > 0 {
		return min(time.Duration(s)*time.Second, longestPause)
	}
	return min(firstPause<<min(x.failures, 10), longestPause)
}
