package server

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// page is a page of a list: a position in a snapshot.
type page struct {
	snap   *watchcache.Snapshot
	prefix string // of the keys that are listed, as tokens leave it out
	after  string // the last key shown before, "" at the beginning
	limit  int    // 0 for no limit
}

// openPage takes the snapshot that the options ask for.
func (c *call) openPage(sel watchcache.Selection, opts *internalversion.ListOptions) (*page, error) {
	p := &page{prefix: c.ep.StoragePrefix + "/", limit: int(opts.Limit)}
	if sel.Namespace != "" {
		p.prefix += sel.Namespace + "/"
	}
	at, err := parseReadAt(opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit > 0)
	if err != nil {
		return nil, apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	if at.Match == watchcache.Any {
		p.limit = 0 // any revision will do: the whole is as good as a page
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
			at.Match = watchcache.Latest
		}
	}
	p.snap, err = c.ep.Cache.Snapshot(c.ctx, at)
	if c.redefined() {
		return nil, errRedefined
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
func (p *page) cut(walk *watchcache.Walk, sel watchcache.Selection, meta *represent.ListMeta) []*watchcache.Object {
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
		meta.Continue = newToken(p.prefix, last, int64(p.snap.Revision()))
		if everything(sel) {
			meta.Remaining = int64(p.snap.Count(sel, last))
		}
	}
	return objects
}

// pickedPage is cut for a selector with represent.VersionFields.
func (c *call) pickedPage(f *represent.Representation, pick *represent.VersionFields, p *page, sel watchcache.Selection, meta *represent.ListMeta) ([]*watchcache.Object, error) {
	objects, more, err := f.Select(c.ctx, pick, p.snap, sel, p.after, p.limit)
	if more {
		meta.Continue = newToken(p.prefix, objects[len(objects)-1].Key(), int64(p.snap.Revision()))
	}
	return objects, err
}
