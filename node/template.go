package node

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// LoadTemplate reads a Node for Options.Template from a YAML file.
func LoadTemplate(file string) (*corev1.Node, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := &corev1.Node{}
	if err := yaml.UnmarshalStrict(text, n); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if n.Kind != "" && n.Kind != "Node" {
		return nil, fmt.Errorf("%s: kind %s: want Node", file, n.Kind)
	}
	return n, nil
}

// ParseCapacity reads quantities by resource: cpu=8, memory=32Gi, example.com/gpu=2.
func ParseCapacity(items map[string]string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, text := range items {
		q, err := resource.ParseQuantity(strings.TrimSpace(text))
		if err != nil || q.Sign() < 0 {
			return nil, fmt.Errorf("%s=%s: want a quantity of zero or more", name, text)
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nil
}

// onto applies the template to a new Node.
func onto(n, template *corev1.Node) {
	if template == nil {
		return
	}
	own := n.Labels[corev1.LabelHostname] // a template that was a Node has that one's host name
	maps.Copy(n.Labels, template.Labels)
	n.Labels[corev1.LabelHostname] = own
	maps.Copy(n.Annotations, template.Annotations)
	n.Spec.Taints = template.Spec.Taints
	n.Spec.Unschedulable = template.Spec.Unschedulable
	n.Spec.ProviderID = template.Spec.ProviderID
}

// ontoStatus applies the template's status to that of a node.
func ontoStatus(s *corev1.NodeStatus, template *corev1.Node) {
	if template == nil {
		return
	}
	maps.Copy(s.Allocatable, template.Status.Allocatable)
	s.Images = append(s.Images, template.Status.Images...)
	ontoNodeInfo(&s.NodeInfo, &template.Status.NodeInfo)
}

// ontoNodeInfo sets the fields that the template has.
func ontoNodeInfo(i, template *corev1.NodeSystemInfo) {
	to, from := reflect.ValueOf(i).Elem(), reflect.ValueOf(template).Elem()
	for i := range from.NumField() {
		if f := from.Field(i); !f.IsZero() {
			to.Field(i).Set(f)
		}
	}
}
