// Package images simulates the images of containers: their names and IDs, those that cannot be pulled, and those
// that a node has pulled. No image is fetched.
package images

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxImages is the number of images that a kubelet reports, the largest first.
const maxImages = 50

// Pulled is the set of images that a node has pulled. The zero value is an empty set. It is not safe for concurrent use.
type Pulled struct {
	// Unreported is the time of the first image that Report has not listed; zero if it has listed all. The
	// caller resets it.
	Unreported time.Time
	// Behaviors declare the sizes of images.
	Behaviors *Behaviors
	sizes     map[string]int64 // by name
}

// Add adds the images of the containers that a pod has run.
func (im *Pulled) Add(pod *corev1.Pod) {
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
			im.sizes[c.Image] = im.Behaviors.Size(c.Image)
			if im.Unreported.IsZero() {
				im.Unreported = time.Now()
			}
		}
	}
}

// Has reports whether an image has been pulled.
func (im *Pulled) Has(image string) bool {
	_, ok := im.sizes[image]
	return ok
}

// Restore adds the images that an earlier Report listed: they are on the node's disk, whether pods still run them or not. It skips
// others.
func (im *Pulled) Restore(reported []corev1.ContainerImage) {
	for i := range reported {
		r := &reported[i]
		if len(r.Names) == 0 {
			continue
		}
		name := r.Names[len(r.Names)-1]
		if !slices.Equal(r.Names, names(name)) {
			continue
		}
		if im.sizes == nil {
			im.sizes = map[string]int64{}
		}
		im.sizes[name] = r.SizeBytes
	}
}

// Report returns the images for the node's status.
func (im *Pulled) Report() []corev1.ContainerImage {
	var list []corev1.ContainerImage
	for name, size := range im.sizes {
		list = append(list, corev1.ContainerImage{Names: names(name), SizeBytes: size})
	}
	slices.SortFunc(list, func(a, b corev1.ContainerImage) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), strings.Compare(a.Names[0], b.Names[0]))
	})
	return list[:min(len(list), maxImages)]
}

// names returns the names of an image in a node's status.
func names(image string) []string {
	if id := ID(image); id != image {
		return []string{id, image}
	}
	return []string{image}
}

// inventedSize returns the size of an image: 5 MiB to 500 MiB, always the same for one name.
func inventedSize(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	const mib = 1 << 20
	return 5*mib + int64(binary.BigEndian.Uint64(sum[:8])%(495*mib))
}
