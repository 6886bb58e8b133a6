package testenv

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// The pauses between two attempts at something that failed, or whose state does not come by an event.
const (
	firstPause = 5 * time.Millisecond
	maxPause   = time.Second
)

// sleep waits for a pause, and returns the next one. The error is that of ctx.
func sleep(ctx context.Context, pause time.Duration) (time.Duration, error) {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return min(2*pause, maxPause), nil
	case <-ctx.Done():
		return pause, ctx.Err()
	}
}

// follow calls done with each state of an object of a collection, as JSON, or nil while it does not exist, until done
// reports true. It reads the state and then watches. It ends with the error of a request, or that of ctx.
func (e *Env) follow(ctx context.Context, collection, name string, done func(object []byte) bool) error {
	query := url.Values{"fieldSelector": {"metadata.name=" + name}}
	for pause := firstPause; ; {
		var list struct {
			Metadata struct{ ResourceVersion string }
			Items    []json.RawMessage
		}
		if err := e.api.get(ctx, collection+"?"+query.Encode(), &list); err != nil {
			return err
		}
		var object []byte
		if len(list.Items) > 0 {
			object = list.Items[0]
		}
		if done(object) {
			return nil
		}
		found, err := e.watch(ctx, collection, query, list.Metadata.ResourceVersion, done)
		if found || err != nil {
			return err
		}
		if pause, err = sleep(ctx, pause); err != nil { // the watch was cut
			return err
		}
	}
}

// watch reports whether done has reported true before the watch ended.
func (e *Env) watch(ctx context.Context, collection string, query url.Values, revision string, done func(object []byte) bool) (bool, error) {
	q := url.Values{"watch": {"true"}, "resourceVersion": {revision}, "fieldSelector": query["fieldSelector"]}
	in, err := e.api.stream(ctx, http.MethodGet, collection+"?"+q.Encode(), "application/json", nil)
	var gone *statusError
	if errors.As(err, &gone) && gone.code == http.StatusGone {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	for events := json.NewDecoder(in); ; {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if events.Decode(&event) != nil {
			return false, ctx.Err()
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			if done(event.Object) {
				return true, nil
			}
		case "DELETED":
			if done(nil) {
				return true, nil
			}
		case "ERROR":
			return false, nil
		}
	}
}

// changes returns a channel that receives a value after each change in the server, and one value for several if it is
// not read in time. It works until ctx ends.
func (e *Env) changes(ctx context.Context) (<-chan struct{}, error) {
	const path = "/debug/lives?follow=true&settled=0s"
	in, err := e.api.stream(ctx, http.MethodGet, path, "application/jsonl, */*", nil)
	if err != nil {
		return nil, err
	}
	bell := make(chan struct{}, 1)
	go func() {
		for ctx.Err() == nil {
			if err == nil {
				ring(in, bell)
				in.Close()
			}
			if _, stopped := sleep(ctx, maxPause); stopped != nil {
				return
			}
			in, err = e.api.stream(ctx, http.MethodGet, path, "application/jsonl, */*", nil)
		}
	}()
	return bell, nil
}

// ring puts a value into bell for the lines of in, until these end.
func ring(in io.Reader, bell chan<- struct{}) {
	for lines := bufio.NewReader(in); ; {
		_, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		if more {
			continue
		}
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}
