package node

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/devices"
)

// Devices are the devices of simulated nodes, such as GPUs. Make them with LoadDevices.
type Devices struct{ catalog *devices.Catalog }

// LoadDevices reads Options.Devices from a YAML file, whose form docs/devices.md describes. Unknown fields and values that
// the API would refuse are errors.
func LoadDevices(file string) (*Devices, error) {
	c, err := devices.Load(file)
	if err != nil {
		return nil, err
	}
	return &Devices{c}, nil
}

// offerDevices creates the class of the catalog, unless a class of its name exists.
func (ns *Nodes) offerDevices(ctx context.Context) error {
	if ns.options.Devices == nil {
		return nil
	}
	class := ns.options.Devices.catalog.DeviceClass()
	if class == nil {
		return nil
	}
	_, err := client.For[*resourcev1.DeviceClass](ns.env.Client).Create(ctx, class)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// publishDevices makes the slices of the catalog's driver for the node those of the catalog. Slices that are right stay as
// they are; else all get a new generation. A catalog that the server refuses is logged, since the node can do without.
func (k *kubelet) publishDevices(ctx context.Context, node *corev1.Node) error {
	if k.options.Devices == nil {
		return nil
	}
	c := k.options.Devices.catalog
	api := client.For[*resourcev1.ResourceSlice](k.env.Client)
	have, err := api.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node.Name + ",spec.driver=" + c.Driver})
	if err != nil {
		return err
	}
	generation := int64(0)
	for _, s := range have.Items {
		generation = max(generation, s.Spec.Pool.Generation)
	}
	if want := c.Slices(node, generation); len(want) != len(have.Items) || !slices.EqualFunc(want, have.Items, isPublished) {
		err = replaceSlices(ctx, api, have.Items, c.Slices(node, generation+1))
	}
	if apierrors.IsInvalid(err) {
		k.env.Log.Warn("the devices of a node are not published", "node", node.Name, "err", err)
		return nil
	}
	return err
}

// isPublished reports whether a slice is as wanted, apart from the fields that the server sets.
func isPublished(want, have *resourcev1.ResourceSlice) bool {
	have = have.DeepCopy()
	for i := range have.Spec.Devices {
		for t := range have.Spec.Devices[i].Taints {
			have.Spec.Devices[i].Taints[t].TimeAdded = nil
		}
	}
	return want.Name == have.Name && apiequality.Semantic.DeepEqual(want.OwnerReferences, have.OwnerReferences) &&
		apiequality.Semantic.DeepEqual(want.Spec, have.Spec)
}

// replaceSlices writes the slices of a new generation, and deletes those that are no longer there.
func replaceSlices(ctx context.Context, api client.Resource[*resourcev1.ResourceSlice], have, want []*resourcev1.ResourceSlice) error {
	for _, s := range want {
		i := slices.IndexFunc(have, func(h *resourcev1.ResourceSlice) bool { return h.Name == s.Name })
		var err error
		if i < 0 {
			_, err = api.Create(ctx, s)
		} else {
			s.ResourceVersion = have[i].ResourceVersion
			_, err = api.Update(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	for _, h := range have {
		if !slices.ContainsFunc(want, func(s *resourcev1.ResourceSlice) bool { return h.Name == s.Name }) {
			if err := api.Delete(ctx, h.Name); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}
