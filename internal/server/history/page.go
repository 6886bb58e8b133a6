package history

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/history"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// readAtOnce is how many versions are read from the store and converted at once.
const readAtOnce = 64

// pager makes a page. It belongs to one request.
type pager struct {
	Source
	call  *call.Call
	query query
	form  *represent.Representation
	guard guard
	page  history.Page
	bytes int
	// decoded are the fields of the object that was decoded last.
	decoded struct {
		of     *watchcache.Object
		fields map[string]any
	}
}

// page makes the page that was asked for.
func (s Source) page(c *call.Call, q query) (*history.Page, error) {
	ep := c.Endpoint
	p := &pager{Source: s, call: c, query: q, page: history.Page{
		Resource: ep.ServedGR.String(), APIVersion: ep.ServedGVK.GroupVersion().String(), Kind: ep.ServedGVK.Kind,
		Namespace: q.namespace, Name: q.name, Now: time.Now(), States: []history.State{},
	}}
	var err error
	if p.form, err = represent.New(c.Context, ep, request.ResponseFormat{Media: serializer.JSON, Shape: request.AsObject}, nil); err != nil {
		return nil, err
	}
	if p.guard, err = newGuard(c); err != nil {
		return nil, err
	}
	for before, more := q.before, true; more; {
		if before, more, err = p.read(before); err != nil {
			return nil, err
		}
	}
	order(p.page.States)
	if len(p.page.States) == 0 && q.before == 0 && p.page.Withheld == "" {
		return nil, p.missing()
	}
	return &p.page, nil
}

// missing is the error for an object that no kept revision has.
func (p *pager) missing() error {
	err := apierrors.NewNotFound(p.call.Endpoint.ServedGR, p.query.name)
	if p.page.Compacted > 0 {
		err.ErrStatus.Message += fmt.Sprintf(" since revision %d, where the kept history begins", p.page.Compacted)
	} else {
		err.ErrStatus.Message += ", now or before"
	}
	return err
}

// read adds the states of some versions. It returns where to go on, and whether to.
func (p *pager) read(before storage.Revision) (_ storage.Revision, more bool, err error) {
	n := min(readAtOnce, p.query.limit-len(p.page.States))
	vs, err := p.call.Endpoint.Cache.Versions(p.call.Context, p.query.namespace, p.query.name, before, n)
	if err != nil {
		return 0, false, err
	}
	p.page.Revision = max(p.page.Revision, int64(vs.Revision))
	if err := p.preconvert(vs.List); err != nil {
		return 0, false, err
	}
	for i := range vs.List {
		v := &vs.List[i]
		if p.page.Withheld, err = p.guard.refusal(v); err != nil || p.page.Withheld != "" {
			return 0, false, err
		}
		if p.bytes > history.MaxBytes {
			p.page.Before = p.page.States[len(p.page.States)-1].Revision
			return 0, false, nil
		}
		s, err := p.state(v)
		if err != nil {
			return 0, false, err
		}
		p.bytes += len(s.Object)
		p.page.States = append(p.page.States, s)
		before = v.Revision
	}
	switch {
	case !vs.More:
		p.page.Compacted = int64(vs.Compacted)
	case len(p.page.States) == p.query.limit:
		p.page.Before = int64(before)
	}
	return before, vs.More && p.page.Before == 0, nil
}

// preconvert converts all objects with one call of a conversion webhook, if the kind has one.
func (p *pager) preconvert(list []watchcache.Version) error {
	var objects []*watchcache.Object
	seen := map[*watchcache.Object]bool{nil: true}
	for i := range list {
		for _, o := range []*watchcache.Object{list[i].Object, list[i].Previous} {
			if !seen[o] {
				seen[o], objects = true, append(objects, o)
			}
		}
	}
	return p.form.Preconvert(p.call.Context, objects)
}
