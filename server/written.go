package server

import (
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// written is an object with its value in the store, or the one that a dry run would store.
type written struct {
	obj   resource.Object // nil if only the bytes are known
	key   string
	value []byte           // nil if the object has been removed
	rev   storage.Revision // 0 for a dry run of a create
	// with is written in one transaction with the object.
	with companions
	// stored: this call has stored the object.
	stored bool
}

// encode makes the value to be stored of an object of the hub version.
func (c *call) encode(obj resource.Object) (*written, error) {
	obj, value, err := c.ep.EncodeStored(c.ctx, obj, c.altered)
	if err != nil {
		return nil, err
	}
	return &written{obj: obj, key: c.ep.Key(obj.GetNamespace(), obj.GetName()), value: value}, nil
}

// revise sets the revision of the commit.
func (w *written) revise(rev storage.Revision) {
	w.rev = rev
	if w.obj != nil {
		w.obj.SetResourceVersion(rev.String())
	}
}

// answer sends the object, from the stored bytes if the client has negotiated JSON of the
// storage version.
func (w *written) answer(c *call, code int) error {
	if w.obj != nil && (w.rev == 0 || w.value == nil || !c.ep.Raw || c.accept.Shape != request.AsObject || !c.accept.Media.IsText()) {
		return c.answerTyped(code, w.obj, w.obj.GetResourceVersion())
	}
	o, err := watchcache.NewObject(&storage.KeyValue{Key: w.key, Value: w.value, ModRevision: w.rev}, c.ep.Cache)
	if err != nil {
		return err
	}
	c.s.writeCache.give(c, w)
	return c.answerStored(code, o)
}

// admission describes a write to the admission plugins.
func (c *call) admission(v admission.Verb, obj, old, opts runtime.Object) *admission.Request {
	return &admission.Request{
		Warn:     func(text string) { c.warn(text) },
		Resource: c.ep.Resource, Version: c.ep.ServedVersion.Name, Subresource: c.info.Subresource,
		Namespace: c.namespace(), Name: c.info.Name,
		Verb: v, Object: obj, Old: old, User: c.user, DryRun: c.dryRun, Options: opts,
	}
}

func (c *call) chain() metrics.TimedChain {
	return metrics.TimedChain{Chain: c.s.cfg.Admission, AdmissionSteps: c.s.metrics.AdmissionSteps, Timer: c.s.plugins}
}
