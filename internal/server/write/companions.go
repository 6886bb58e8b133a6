package write

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
)

// along returns the companions and reservations that admission has added to a request.
func (c *Operation) along(ar *admission.Request) (with companions, err error) {
	for _, m := range ar.Companions() {
		ep := c.Registry.Stored(m.Resource)
		if ep == nil {
			return with, apierrors.NewNotFound(m.Resource, m.Object.GetName())
		}
		key := ep.Key(m.Object.GetNamespace(), m.Object.GetName())
		at, op := storage.Revision(0), storage.Op{Type: storage.Delete, Key: key}
		if m.Delete {
			if at, err = storage.ParseRevision(m.Object.GetResourceVersion()); err != nil {
				return with, err
			}
		} else {
			c.w.internal(c.Context, ep, m.Object.GetNamespace(), "create").completeNew(m.Object)
			value, _, err := serializer.EncodeStored(m.Object, ep.ServedGVK)
			if err != nil {
				return with, err
			}
			op = storage.Op{Type: storage.Put, Key: key, Value: value}
		}
		with.conditions = append(with.conditions, storage.Condition{Key: key, ModRevision: at})
		with.ops = append(with.ops, op)
	}
	for _, s := range ar.Reservations() {
		op := storage.Op{Type: storage.Delete, Key: s.Key}
		if s.Owner != "" {
			op = storage.Op{Type: storage.Put, Key: s.Key, Value: []byte(s.Owner)}
			with.conditions = append(with.conditions, storage.Condition{Key: s.Key, ModRevision: s.At})
		}
		with.ops = append(with.ops, op)
	}
	return with, nil
}
