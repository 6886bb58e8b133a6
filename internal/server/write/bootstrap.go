package write

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/serializer"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// bootstrapPart is the number of objects in one transaction: a start needs few syncs, and etcd
// takes up to 128 operations.
const bootstrapPart = 100

// bootstrapAttempts bounds the retries of Bootstrap after conflicts: other replicas start at
// the same time and write the same objects.
const bootstrapAttempts = 5

// Bootstrap creates the objects that a cluster starts with. An object that exists is replaced
// by the result of mend, unless that is nil. Objects have their kind set and are in their
// storage version. They skip admission. Their managed fields are those that kube-apiserver
// records.
func (w *Writer) Bootstrap(ctx context.Context, objects []runtime.Object, mend func(have, want runtime.Object) runtime.Object) error {
	for part := range slices.Chunk(objects, bootstrapPart) {
		if err := w.bootstrapPart(ctx, part, mend); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) bootstrapPart(ctx context.Context, objects []runtime.Object, mend func(have, want runtime.Object) runtime.Object) error {
	for range bootstrapAttempts {
		txns, err := w.bootstrapTxns(ctx, objects, mend)
		if err != nil {
			return err
		}
		done := true
		for shard, txn := range txns {
			res, err := shard.Store.Commit(ctx, *txn)
			if err != nil {
				return err
			}
			done = done && res.Succeeded
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("the objects to start with change faster than they can be written")
}

// bootstrapTxns returns a transaction for each shard that has objects to be written.
func (w *Writer) bootstrapTxns(ctx context.Context, objects []runtime.Object, mend func(have, want runtime.Object) runtime.Object) (map[*endpoint.Shard]*storage.Txn, error) {
	txns := map[*endpoint.Shard]*storage.Txn{}
	for _, want := range objects {
		gvk := want.GetObjectKind().GroupVersionKind()
		ep := w.Registry.StoredKind(gvk)
		if ep == nil {
			return nil, fmt.Errorf("bootstrap: %s is not stored here", gvk)
		}
		m := want.(resource.Object)
		c := w.internal(ctx, ep, m.GetNamespace(), "update")
		o, _, err := ep.Cache.Get(ctx, m.GetNamespace(), m.GetName(), watchcache.ReadAt{})
		if err != nil {
			return nil, err
		}
		write, at := want, storage.Revision(0)
		if o == nil {
			c.completeNew(m)
		} else {
			have, err := ep.Decode(ctx, o.Value(), o.Revision())
			if err != nil {
				return nil, err
			}
			if write, at = mend(have, want), o.Revision(); write == nil {
				continue
			}
			c.recordFields(write.(resource.Object), have.(resource.Object), o, fieldManager{name: bootstrapManager(gvk.Group)})
		}
		value, _, err := serializer.EncodeStored(write, gvk)
		if err != nil {
			return nil, err
		}
		txn := txns[ep.Shard]
		if txn == nil {
			txn = &storage.Txn{}
			txns[ep.Shard] = txn
		}
		key := ep.Key(m.GetNamespace(), m.GetName())
		txn.If = append(txn.If, storage.Condition{Key: key, ModRevision: at})
		txn.Then = append(txn.Then, storage.Op{Type: storage.Put, Key: key, Value: value})
	}
	return txns, nil
}

// bootstrapManager returns the field manager under which kube-apiserver writes a group's
// initial objects.
func bootstrapManager(group string) string {
	if group == flowcontrolv1.GroupName {
		return "api-priority-and-fairness-config-producer-v1"
	}
	return "kube-apiserver"
}

// completeNew completes an object as a create would.
func (c *Operation) completeNew(obj resource.Object) {
	c.setDefaults(obj)
	asked := asked(obj)
	c.recordFields(asked, nil, nil, fieldManager{name: bootstrapManager(c.Endpoint.ServedGVK.Group)})
	obj.SetManagedFields(asked.GetManagedFields())
	initObjectMeta(obj)
	var conditions []flowcontrolv1.FlowSchemaCondition
	schema, _ := obj.(*flowcontrolv1.FlowSchema)
	if schema != nil {
		conditions = schema.Status.Conditions
	}
	if f := c.Endpoint.Strategy.PrepareForCreate; f != nil {
		f(obj)
	}
	if len(conditions) > 0 {
		schema.Status.Conditions = conditions
		schema.ManagedFields = slices.Insert(schema.ManagedFields, 0, classified(conditions[0].LastTransitionTime))
	}
}

// FlowClassifier is the field manager under which kube-apiserver applies the condition of a FlowSchema. Bootstrap records it
// for the condition with which it creates one.
const FlowClassifier = "api-priority-and-fairness-config-consumer-v1"

// classified returns the entry of FlowClassifier's fields.
func classified(at metav1.Time) metav1.ManagedFieldsEntry {
	const fields = `{"f:status":{"f:conditions":{"k:{\"type\":\"Dangling\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`
	return metav1.ManagedFieldsEntry{
		Manager: FlowClassifier, Operation: metav1.ManagedFieldsOperationApply, APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: "status",
	}
}

// asked returns an object as kube-apiserver requests it of itself: without the fields that
// defaulting fills in later, which have no field manager.
func asked(obj resource.Object) resource.Object {
	switch o := obj.(type) {
	case *rbacv1.ClusterRole:
		if o.AggregationRule != nil {
			o = o.DeepCopy()
			o.Rules = nil
			return o
		}
	case *corev1.Service:
		o = o.DeepCopy()
		o.Spec.ClusterIPs, o.Spec.IPFamilies = nil, nil
		return o
	}
	return obj
}
