package read

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Page is a page of a list: a position in a snapshot.
type Page struct {
	Snapshot *watchcache.Snapshot
	prefix   string // of the listed keys; continue tokens omit it
	after    string // the last key of the page before, "" on the first page
	limit    int    // 0 for no limit
}

// OpenPage takes the snapshot that the options ask for.
func OpenPage(c *call.Call, sel watchcache.Selection, opts *internalversion.ListOptions) (*Page, error) {
	p := &Page{prefix: c.Endpoint.StoragePrefix + "/", limit: int(opts.Limit)}
	if sel.Namespace != "" {
		p.prefix += sel.Namespace + "/"
	}
	at, err := parseReadAt(opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit > 0)
	if err != nil {
		return nil, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	if at.Match == watchcache.Any {
		p.limit = 0 // as in kube-apiserver, a list at any revision is not paged
	}
	if opts.Continue != "" {
		if opts.ResourceVersion != "" && opts.ResourceVersion != "0" {
			return nil, apierrors.NewBadRequest(continueWithRevision)
		}
		if p.after, at.Revision, err = parseToken(opts.Continue, p.prefix); err != nil {
			return nil, err
		}
		at.Match = watchcache.Exact
		if at.Revision == 0 {
			at.Match = watchcache.Request
		}
	}
	p.Snapshot, err = c.Endpoint.Cache.Snapshot(c.Context, at)
	if c.Outdated() {
		return nil, endpoint.ErrRedefined
	}
	if errors.Is(err, storage.ErrCompacted) {
		if opts.Continue != "" {
			return nil, expiredPage(p.prefix, p.after)
		}
		return nil, apierrors.NewResourceExpired(listRevisionTooOld)
	}
	return p, err
}

// cut collects the page's objects from the walk, and sets the continue token in meta.
func (p *Page) cut(walk *watchcache.Walk, sel watchcache.Selection, meta *represent.ListMeta) []*watchcache.Object {
	objects := make([]*watchcache.Object, 0, min(p.limit, 1000)+1)
	more := false
	for o := range walk.Rest() {
		if len(objects) == p.limit {
			more = true
			break
		}
		objects = append(objects, o)
	}
	if more {
		last := objects[len(objects)-1].Key()
		meta.Continue = newToken(p.prefix, last, int64(p.Snapshot.Revision()))
		if selectsAll(sel) {
			meta.Remaining = int64(p.Snapshot.Count(sel, last))
		}
	}
	return objects
}

// selected is cut for a selector with represent.VersionFields.
func (p *Page) selected(c *call.Call, f *represent.Representation, pick *represent.VersionFields, sel watchcache.Selection, meta *represent.ListMeta) ([]*watchcache.Object, error) {
	objects, more, err := f.Select(c.Context, pick, p.Snapshot, sel, p.after, p.limit)
	if more {
		meta.Continue = newToken(p.prefix, objects[len(objects)-1].Key(), int64(p.Snapshot.Revision()))
	}
	return objects, err
}

// Objects returns the page's objects and sets the continue token in meta. pick is from
// call.Selection.
func (p *Page) Objects(c *call.Call, f *represent.Representation, pick *represent.VersionFields, sel watchcache.Selection, meta *represent.ListMeta) ([]*watchcache.Object, error) {
	if pick != nil {
		return p.selected(c, f, pick, sel, meta)
	}
	walk, err := p.Snapshot.Walk(sel, p.after)
	if err != nil {
		return nil, err
	}
	walk.EndWhen(func() bool { return c.Context.Err() != nil })
	var objects []*watchcache.Object
	if p.limit > 0 {
		objects = p.cut(&walk, sel, meta)
	} else {
		objects = slices.Collect(walk.Rest())
	}
	if walk.Stopped() {
		return nil, context.DeadlineExceeded
	}
	return objects, nil
}

// selectsAll reports whether the selection takes every object of its namespace.
func selectsAll(sel watchcache.Selection) bool {
	return sel.Labels == nil && sel.Fields == nil && sel.Name == ""
}
