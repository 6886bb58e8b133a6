package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

// following is a watch that resumes when the server ends it, as a kube-apiserver does with
// watches that it considers slow.
type following struct {
	open func(since string) (*frames, error)
	now  *frames
	last string // the resource version of the last event; "" before the first
}

// follow watches the present objects and their changes.
func (b *bench) follow(ctx context.Context, path string) (*following, error) {
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	f := &following{open: func(since string) (*frames, error) {
		at := path + join + "watch=true"
		if since != "" {
			at += "&resourceVersion=" + since
		}
		return b.conn(0).watch(ctx, at)
	}}
	var err error
	f.now, err = f.open("")
	return f, err
}

func (f *following) close() {
	if f.now != nil {
		f.now.close()
	}
}

// next waits for an event; it is valid until the next call. That the server cannot go on
// where the watch ended is an error.
func (f *following) next() (event, error) {
	for {
		e, err := f.now.next()
		switch {
		case errors.Is(err, io.EOF):
			f.now.close()
			if f.now, err = f.open(f.last); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		case e.expect("ERROR") == nil:
			return nil, e.expect("ADDED, MODIFIED or DELETED")
		}
		f.last = e.metadata("resourceVersion")
		return e, nil
	}
}

// metadata is a text in the metadata of the event's object, where it stands before all
// others of that name.
func (e event) metadata(key string) string {
	_, rest, _ := bytes.Cut(e, []byte(`"metadata":{`))
	_, rest, _ = bytes.Cut(rest, []byte(`"`+key+`":"`))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}
