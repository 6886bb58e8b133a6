package write

import (
	"bytes"
	"time"

	"k8s.io/utils/ptr"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/watchcache"
)

// mergePlain merges most configurations without schemas, on the object's text; see
// managed.Apply.TryMerge. ok is false if merge must do it.
func (p *applying) mergePlain(now *watchcache.Object, old resource.Object) (obj resource.Object, ok bool) {
	version := p.Endpoint.ServedGVK.GroupVersion().String()
	if purego.Enabled || !p.config.plain || p.Endpoint.AsksWebhook || !p.config.isOf(version, p.Endpoint.Kind) || bytes.Contains(p.config.text, []byte(`"managedFields"`)) {
		return nil, false
	}
	a := managed.Apply{
		Manager: p.opts.FieldManager, Subresource: p.Info.Subresource, APIVersion: version, Shape: p.Endpoint.Shape(),
		Filter: managed.Filter{Without: p.Endpoint.Reset(p.Info.Subresource)}, Live: []byte("{}"), Config: p.config.text,
		Force: ptr.Deref(p.opts.Force, false), Time: time.Now(),
	}
	if old == nil {
		text, entries, ok := a.TryMerge(nil)
		if !ok {
			return nil, false
		}
		return p.Endpoint.DecodeMerged(&endpoint.MergedText{Text: text, Entries: entries})
	}
	if !p.Endpoint.Raw || !p.Endpoint.Current(now) || p.lastRead.unknown || len(old.GetManagedFields()) == 0 || p.opts.FieldManager == kubectl && appliedLast(old) {
		return nil, false
	}
	a.Live = p.textOf(now)
	text, entries, ok := a.TryMerge(old.GetManagedFields())
	if !ok {
		return nil, false
	}
	return p.Endpoint.DecodeMerged(&endpoint.MergedText{Text: text, Entries: entries, Old: old, Before: a.Live})
}

// kubectl is the field manager whose last-applied annotation is kept.
const kubectl = "kubectl"

func appliedLast(obj resource.Object) bool {
	return obj.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"] != ""
}
