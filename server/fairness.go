package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/watchcache"
)

// Prioritize tells requests apart by these FlowSchemas and priority levels from now on. Mandatory ones that are missing are
// added. The objects must not be modified. The result has the names of the levels that are valid; it is nil without
// Config.Fairness.
func (s *Server) Prioritize(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) (valid map[string]bool) {
	if s.fairness == nil {
		return nil
	}
	return s.fairness.Set(schemas, levels)
}

// maxPatience bounds the time that a request waits for a seat.
const maxPatience = time.Minute

// takeSeat waits for a seat at the request's priority level. Requests of this process take none: it limits them itself, by
// the number of its workers, and one that serves another request must not wait for it. A watch takes its seat until it has
// sent the state that it begins with; other requests that last by nature take none.
func (c *serving) takeSeat() (err error) {
	d := c.s.fairness
	if d == nil || c.inProcess() {
		return nil
	}
	limit, watch := c.Limit, c.Info.Verb == "watch"
	if c.Info.LongRunning() {
		if !watch {
			return nil
		}
		limit = c.s.cfg.RequestTimeout
	}
	var class fairness.Class
	queued := &c.s.metrics.QueuedWrites
	if c.Info.ReadOnly() {
		queued = &c.s.metrics.QueuedReads
	}
	queued.Inc()
	defer queued.Dec()
	began := time.Now()
	c.Seat, class, err = d.Enter(c.Context, fairness.Request{
		User: c.User, Info: &c.Info, Query: c.Query, Arrived: c.Start, Patience: min(limit/4, maxPatience),
	})
	c.Wait(time.Since(began))
	h := c.Writer.Header()
	h[levelHeader], h[schemaHeader] = []string{string(class.Level)}, []string{string(class.Schema)}
	if err == nil && watch {
		c.forget = d.Watch(&c.Info, c.Query)
	}
	return err
}

var (
	levelHeader  = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID)
	schemaHeader = http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)
)

// dumps is the path of the dumps of priority levels, queues and requests, as in kube-apiserver.
const dumps = "/debug/api_priority_and_fairness/"

// dump serves the paths below dumps.
func (c *serving) dump() error {
	d := c.s.fairness
	if d == nil {
		return apistatus.ErrPathNotFound
	}
	switch strings.TrimPrefix(c.Info.Path, dumps) {
	case "dump_priority_levels":
		return d.DumpLevels(c.Writer)
	case "dump_queues":
		return d.DumpQueues(c.Writer)
	case "dump_requests":
		return d.DumpRequests(c.Writer, c.Query.Get("includeRequestDetails") != "")
	}
	return apistatus.ErrPathNotFound
}

// sizes remembers the mean sizes of the objects of resources, by schema.GroupResource.
type sizes struct{ sync.Map }

type meanSize struct {
	bytes int
	at    time.Time
}

const (
	// sizeAge is how long a mean size counts, and sampled the number of objects that it is taken of.
	sizeAge = time.Minute
	sampled = 16
)

// objects describes the stored objects of a resource. Their mean size is that of a sample.
func (s *Server) objects(group, resource string) (o fairness.Objects, ok bool) {
	gr := schema.GroupResource{Group: group, Resource: resource}
	cache := s.Cache(gr)
	if cache == nil {
		return o, false
	}
	if o.Count = cache.Stats().Objects; o.Count == 0 {
		return o, true
	}
	now := time.Now()
	if m, ok := s.sizes.Load(gr); ok && now.Sub(m.(meanSize).at) < sizeAge {
		o.Size = m.(meanSize).bytes
		return o, true
	}
	o.Size = meanOf(cache)
	s.sizes.Store(gr, meanSize{o.Size, now})
	return o, true
}

// meanOf returns the mean size of some of the objects in a cache, 0 if they cannot be read.
func meanOf(cache *watchcache.Cache) int {
	snap, err := cache.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.Any})
	if err != nil {
		return 0
	}
	some, err := snap.List(watchcache.Selection{Readable: true}, "", sampled)
	if err != nil {
		return 0
	}
	n, bytes := 0, 0
	for o := range some {
		n++
		bytes += o.Size()
	}
	return bytes / max(1, n)
}
