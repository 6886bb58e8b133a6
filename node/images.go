package node

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxImages is the number of images that a kubelet reports, the largest first.
const maxImages = 50

// images are those that a node has pulled.
type images struct {
	sizes   map[string]int64 // by name
	changed time.Time        // the time of the first unreported image; zero if all are reported
}

// pulled adds the images of the containers that a pod has run. k.mu is held.
func (im *images) pulled(pod *corev1.Pod) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			c := &list[i]
			if c.State.Running == nil && c.State.Terminated == nil {
				continue
			}
			if _, known := im.sizes[c.Image]; known || c.Image == "" {
				continue
			}
			if im.sizes == nil {
				im.sizes = map[string]int64{}
			}
			im.sizes[c.Image] = imageSize(c.Image)
			if im.changed.IsZero() {
				im.changed = time.Now()
			}
		}
	}
}

// report returns the images for the node's status.
func (im *images) report() []corev1.ContainerImage {
	var list []corev1.ContainerImage
	for name, size := range im.sizes {
		names := []string{name}
		if id := imageID(name); id != name {
			names = []string{id, name}
		}
		list = append(list, corev1.ContainerImage{Names: names, SizeBytes: size})
	}
	slices.SortFunc(list, func(a, b corev1.ContainerImage) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), strings.Compare(a.Names[0], b.Names[0]))
	})
	return list[:min(len(list), maxImages)]
}

// imageSize invents the size of an image: 5 MiB to 500 MiB, always the same for one name.
func imageSize(name string) int64 {
	sum, _ := hex.DecodeString(digest(name)[:16])
	const mib = 1 << 20
	return 5*mib + int64(binary.BigEndian.Uint64(sum)%(495*mib))
}
