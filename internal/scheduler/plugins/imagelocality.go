package plugins

import (
	"slices"
	"strings"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// imageLocality favours nodes that have the pod's images already, according to their statuses: the
// fewer megabytes need to be pulled, the better. An image that few nodes have counts less, so that
// its pods do not all go to these nodes.
type imageLocality struct{}

// Images with a smaller total size do not matter; nor does the size of each container's image above
// the maximum.
const (
	minImageSize = 23 << 20
	maxImageSize = 1000 << 20
)

func (imageLocality) Name() string { return "ImageLocality" }
func (imageLocality) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if len(c.Images) == 0 {
		return nil
	}
	spec := &p.Pod.Spec
	var everywhere int64 // the size of the images that all nodes have
	var wanted []*cache.Image
	add := func(name string) {
		switch image := c.Images[imageName(name)]; {
		case image == nil:
		case image.Nodes == c.Len():
			everywhere += image.Size
		default:
			wanted = append(wanted, image)
		}
	}
	for i := range spec.InitContainers {
		add(spec.InitContainers[i].Image)
	}
	for i := range spec.Containers {
		add(spec.Containers[i].Image)
	}
	for i := range spec.Volumes {
		if v := spec.Volumes[i].Image; v != nil {
			add(v.Reference)
		}
	}
	if wanted == nil && everywhere == 0 {
		return nil
	}
	top := int64(maxImageSize * (len(spec.InitContainers) + len(spec.Containers)))
	return framework.ScoreFunc(func(n *cache.NodeInfo) int64 {
		sum := everywhere
		for _, image := range wanted {
			if slices.Contains(n.Images, image) {
				sum += int64(float64(image.Size) * (float64(image.Nodes) / float64(c.Len())))
			}
		}
		return 100 * (min(max(sum, minImageSize), top) - minImageSize) / (top - minImageSize)
	})
}

// imageName returns the name with its default tag.
func imageName(name string) string {
	if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		return name + ":latest"
	}
	return name
}
