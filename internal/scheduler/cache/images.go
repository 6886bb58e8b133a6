package cache

import corev1 "k8s.io/api/core/v1"

// An Image is a container image that nodes have.
type Image struct {
	Size  int64 // in bytes, as reported by the first of the nodes
	Nodes int
}

// SetImages updates the images of a node from its status; nil means no images.
func (c *Cluster) SetImages(n *NodeInfo, list []corev1.ContainerImage) {
	for name := range n.Images {
		if c.Images[name].Nodes--; c.Images[name].Nodes == 0 {
			delete(c.Images, name)
		}
	}
	n.Images = nil
	for i := range list {
		for _, name := range list[i].Names {
			if n.Images == nil {
				n.Images = map[string]*Image{}
			}
			if n.Images[name] != nil {
				continue
			}
			if c.Images[name] == nil {
				c.Images[name] = &Image{Size: list[i].SizeBytes}
			}
			c.Images[name].Nodes++
			n.Images[name] = c.Images[name]
		}
	}
}
