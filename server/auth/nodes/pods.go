package nodes

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/watchcache"
)

// PodsIn finds pods in the watch cache of pods, by its field spec.nodeName.
func PodsIn(c *watchcache.Cache) func(ctx context.Context, node string) ([]*corev1.Pod, error) {
	return func(ctx context.Context, node string) (list []*corev1.Pod, err error) {
		s, err := c.Snapshot(ctx, watchcache.ReadAt{})
		if err != nil {
			return nil, err
		}
		on := watchcache.Selection{Fields: fields.OneTermEqualSelector("spec.nodeName", node)}
		for o := range s.List(on, "", 0) {
			p := &corev1.Pod{}
			if err := json.Unmarshal(o.Value(), p); err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, nil
	}
}
