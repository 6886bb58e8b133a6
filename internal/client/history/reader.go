// Package history reads the history of one object from a server, page by page, and writes the
// object back as it was.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/history"
)

// ErrNone is the error for a server that has no history.
var ErrNone = errors.New("this server has no history of objects: it is not fairlead, or an earlier version")

// Reader reads the history of an object.
type Reader struct {
	Client          *client.Client
	Resource        client.APIResource
	Namespace, Name string
	// Objects asks for the objects, not only for their changes.
	Objects bool
}

// Page reads the states below a revision, all if it is 0, and at most limit of them, the default
// number if it is 0.
func (r Reader) Page(ctx context.Context, before int64, limit int) (p history.Page, err error) {
	gvr := r.Resource.GVR
	q := url.Values{"resource": {gvr.GroupResource().String()}, "version": {gvr.Version}, "name": {r.Name}, "objects": {strconv.FormatBool(r.Objects)}}
	if r.Resource.Namespaced {
		q.Set("namespace", r.Namespace)
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	res, err := r.Client.REST().Do(ctx, client.Request{Path: history.Path, Query: q})
	if apierrors.IsNotFound(err) && apierrors.ReasonForError(err) != "NotFound" {
		return p, ErrNone
	}
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(res.Body, &p)
}

// Each reads states below a revision, the newest first, until one call of each returns false. It
// returns the last page that it read, without states.
func (r Reader) Each(ctx context.Context, before int64, each func(*history.State) (more bool, err error)) (history.Page, error) {
	for {
		p, err := r.Page(ctx, before, 0)
		if err != nil {
			return p, err
		}
		states := p.States
		p.States = nil
		for i := range states {
			if more, err := each(&states[i]); err != nil || !more {
				return p, err
			}
		}
		if p.Before == 0 {
			return p, nil
		}
		before = p.Before
	}
}
