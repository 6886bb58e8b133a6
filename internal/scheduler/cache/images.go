package cache

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// An Image is a container image that nodes have.
type Image struct {
	Name  string
	Size  int64 // in bytes, as reported by the first of the nodes
	Nodes int
}

// SetImages updates the images of a node from its status; nil means no images.
func (c *Cluster) SetImages(n *NodeInfo, list []corev1.ContainerImage) {
	for _, image := range n.Images {
		if image.Nodes--; image.Nodes == 0 {
			delete(c.Images, image.Name)
		}
	}
	n.Images = nil
	for i := range list {
		for _, name := range list[i].Names {
			image := c.Images[name]
			if image == nil {
				image = &Image{Name: name, Size: list[i].SizeBytes}
				c.Images[name] = image
			}
			if !slices.Contains(n.Images, image) {
				image.Nodes++
				n.Images = append(n.Images, image)
			}
		}
	}
}
