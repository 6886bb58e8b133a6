package scheduler

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// imageLocality favours nodes that have the pod's images already, as their statuses tell:
// the more megabytes need not be pulled, the better. An image that few nodes have counts
// less, so that its pods do not all go to these.
type imageLocality struct{}

// Images smaller than this, together, do not matter; larger ones than this for each
// container do not matter more.
const (
	leastImages = 23 << 20
	mostImages  = 1000 << 20
)

func (imageLocality) Name() string { return "ImageLocality" }
func (imageLocality) Prepare(c *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if len(c.images) == 0 {
		return nil
	}
	spec := &p.Pod.Spec
	var wanted []string
	add := func(name string) {
		if name = imageName(name); c.images[name] != nil {
			wanted = append(wanted, name)
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
	if wanted == nil {
		return nil
	}
	top := int64(mostImages * (len(spec.InitContainers) + len(spec.Containers)))
	return Points(func(n *NodeInfo) int64 {
		var sum int64
		for _, name := range wanted {
			if image, has := n.images[name]; has {
				sum += int64(float64(image.size) * (float64(image.nodes) / float64(c.Len())))
			}
		}
		return 100 * (min(max(sum, leastImages), top) - leastImages) / (top - leastImages)
	})
}

// imageName is the name with the tag that is meant if there is none.
func imageName(name string) string {
	if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		return name + ":latest"
	}
	return name
}

// image is one that nodes have.
type image struct {
	size  int64 // in bytes, as the first of them said
	nodes int
}

// setImages takes in what a node's status says of images; nil means it has none.
func (c *Cluster) setImages(n *NodeInfo, list []corev1.ContainerImage) {
	for name := range n.images {
		if c.images[name].nodes--; c.images[name].nodes == 0 {
			delete(c.images, name)
		}
	}
	n.images = nil
	for i := range list {
		for _, name := range list[i].Names {
			if n.images == nil {
				n.images = map[string]*image{}
			}
			if n.images[name] != nil {
				continue
			}
			if c.images[name] == nil {
				c.images[name] = &image{size: list[i].SizeBytes}
			}
			c.images[name].nodes++
			n.images[name] = c.images[name]
		}
	}
}
