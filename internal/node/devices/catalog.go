package devices

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// A Catalog is the devices of simulated nodes. Make it with Load. It is immutable.
type Catalog struct {
	Driver               string   `json:"driver"`
	Class                string   `json:"class"`
	ExtendedResourceName string   `json:"extendedResourceName"`
	Models               []Model  `json:"models"`
	Failures             Failures `json:"failures"`
}

// A Model is devices of one kind.
type Model struct {
	Name       string                       `json:"name"`
	Count      int                          `json:"count"`
	Nodes      []string                     `json:"nodes"`
	Labels     map[string]string            `json:"labels"`
	Capacity   map[string]resource.Quantity `json:"capacity"`
	Attributes map[string]any               `json:"attributes"`
	NVLinkSize int                          `json:"nvlinkSize"`
	Partitions []Partition                  `json:"partitions"`
}

// A Partition is a part of a device, of which the device has several.
type Partition struct {
	Name     string                       `json:"name"`
	Count    int                          `json:"count"`
	Capacity map[string]resource.Quantity `json:"capacity"`
}

// Failures are the failed devices.
type Failures struct {
	Rate   float64                      `json:"rate"`
	Nodes  []string                     `json:"nodes"`
	Effect resourcev1.DeviceTaintEffect `json:"effect"`
}

// TaintFailed is the key of the taint of failed devices.
const TaintFailed = "fairlead.dev/failed"

// isOn reports whether a node has devices of the model.
func (m *Model) isOn(node *corev1.Node) bool {
	if len(m.Nodes) == 0 && len(m.Labels) == 0 {
		return true
	}
	for name, value := range m.Labels {
		if has, ok := node.Labels[name]; !ok || has != value {
			return slices.Contains(m.Nodes, node.Name)
		}
	}
	return len(m.Labels) > 0 || slices.Contains(m.Nodes, node.Name)
}

// taints returns the taints of a device.
func (f *Failures) taints(node, device string) []resourcev1.DeviceTaint {
	sum := sha256.Sum256([]byte(node + "/" + device))
	if !slices.Contains(f.Nodes, node) && float64(binary.BigEndian.Uint64(sum[:]))/math.MaxUint64 >= f.Rate {
		return nil
	}
	return []resourcev1.DeviceTaint{{Key: TaintFailed, Effect: f.Effect}}
}

// DeviceClass returns the class of the devices; nil if the catalog has none.
func (c *Catalog) DeviceClass() *resourcev1.DeviceClass {
	if c.Class == "" {
		return nil
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: c.Class}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "device.driver == '" + c.Driver + "'"}}},
	}}
	if c.ExtendedResourceName != "" {
		class.Spec.ExtendedResourceName = ptr.To(c.ExtendedResourceName)
	}
	return class
}
