package history

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// Keeper reads and writes the revisions of one kind of owner.
type Keeper struct {
	kind  schema.GroupVersionKind
	label string
	// Revisions is the informer that Of reads; a controller waits for its first list.
	Revisions podcontrol.Owned[*appsv1.ControllerRevision]
}

// New returns the Keeper for owners of the kind, whose revisions carry the hash of their name under label.
func New(env controller.Env, kind schema.GroupVersionKind, label string) *Keeper {
	return &Keeper{
		kind:      kind,
		label:     label,
		Revisions: podcontrol.OwnedOf[*appsv1.ControllerRevision](env),
	}
}

// Owner is the owner of the revisions.
type Owner struct {
	Object   client.Object
	Template *corev1.PodTemplateSpec
	Selector labels.Selector
	// Collisions is the owner's count of hash collisions.
	Collisions int32
	// Fresh reads the owner from the server, before orphans are adopted.
	Fresh func(context.Context) (metav1.Object, error)
}

// Of returns the owner's revisions, oldest first, after adopting orphans that its selector matches.
func (k *Keeper) Of(ctx context.Context, o Owner) ([]*appsv1.ControllerRevision, error) {
	claim := podcontrol.Claim[*appsv1.ControllerRevision]{
		Owner: o.Object, Kind: k.kind, Selector: o.Selector, Resource: k.Revisions.API, Fresh: o.Fresh,
	}
	owned := claim.Owns(k.Revisions.By(o.Object.GetUID()))
	all, err := claim.Take(ctx, owned, k.Revisions.Orphans(o.Object.GetNamespace()))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// Now returns the revision of the owner's present template. all must be the result of Of. An old revision is made
// the newest again; a missing one is created. It also returns the owner's count of collisions.
func (k *Keeper) Now(ctx context.Context, o Owner, all []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, int32, error) {
	data, err := Data(o.Template)
	if err != nil {
		return nil, o.Collisions, err
	}
	next := int64(1)
	if len(all) > 0 {
		next = all[len(all)-1].Revision + 1
	}
	for i, r := range slices.Backward(all) {
		if !holds(r, data) {
			continue
		}
		if i == len(all)-1 {
			return r, o.Collisions, nil
		}
		again := r.DeepCopy()
		again.Revision = next
		r, err = k.Revisions.API.Namespace(r.Namespace).Update(ctx, again)
		return r, o.Collisions, err
	}
	return k.create(ctx, o, data, next)
}

func (k *Keeper) create(ctx context.Context, o Owner, data []byte, revision int64) (*appsv1.ControllerRevision, int32, error) {
	api, collisions := k.Revisions.API.Namespace(o.Object.GetNamespace()), o.Collisions
	for {
		h := hash(data, collisions)
		r := &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Name:            name(o.Object.GetName(), h),
				Namespace:       o.Object.GetNamespace(),
				Labels:          maps.Clone(o.Template.Labels),
				Annotations:     o.Object.GetAnnotations(),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(o.Object, k.kind)},
			},
			Data:     runtime.RawExtension{Raw: data},
			Revision: revision,
		}
		metav1.SetMetaDataLabel(&r.ObjectMeta, k.label, h)
		made, err := api.Create(ctx, r)
		if !apierrors.IsAlreadyExists(err) {
			return made, collisions, err
		}
		there, err := api.Get(ctx, r.Name)
		if err != nil {
			return nil, collisions, err
		}
		if metav1.IsControlledBy(there, o.Object) && holds(there, data) {
			return there, collisions, nil // created before; the cache is behind
		}
		collisions++
	}
}

// Trim deletes the oldest revisions that are not live until limit of those are left.
func (k *Keeper) Trim(ctx context.Context, all []*appsv1.ControllerRevision, live func(*appsv1.ControllerRevision) bool, limit int) error {
	spare := slices.DeleteFunc(slices.Clone(all), live)
	for _, r := range spare[:max(0, len(spare)-limit)] {
		if err := k.Revisions.API.Namespace(r.Namespace).Delete(ctx, r.Name); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
