package node

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/kubeletconfig"
	"fairlead.dev/internal/node/numa"
)

// LoadTemplate reads a Node for Options.Template from a YAML file, whose documents ParseTemplate describes.
func LoadTemplate(file string) (*corev1.Node, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, doc)
	}
	n, err := ParseTemplate(all...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return n, nil
}

// ParseTemplate reads a Node from a document in YAML or JSON. Further documents may be the KubeletConfiguration and the
// Machine of the node, which become the annotations KubeletConfigAnnotation and MachineAnnotation.
func ParseTemplate(documents ...[]byte) (*corev1.Node, error) {
	n := &corev1.Node{}
	for _, doc := range documents {
		if err := readTemplate(n, doc); err != nil {
			return nil, err
		}
	}
	var s settings
	if _, err := s.read(n.Annotations); err != nil {
		return nil, err
	}
	return n, nil
}

// readTemplate reads a document of a template into the Node.
func readTemplate(n *corev1.Node, doc []byte) error {
	var t metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &t); err != nil {
		return err
	}
	switch t.Kind {
	case kubeletconfig.Kind, numa.Kind:
		text, err := yaml.YAMLToJSONStrict(doc)
		name := map[string]string{kubeletconfig.Kind: KubeletConfigAnnotation, numa.Kind: MachineAnnotation}[t.Kind]
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, name, string(text))
		return err
	case "Node", "":
		return yaml.UnmarshalStrict(doc, n) // annotations of other documents stay
	}
	return fmt.Errorf("kind %s: want Node, %s or %s", t.Kind, kubeletconfig.Kind, numa.Kind)
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

// ontoStatus applies the template's status to that of a node. The allocatable resources of a configured kubelet follow from
// its configuration.
func ontoStatus(s *corev1.NodeStatus, template *corev1.Node, configured bool) {
	if template == nil {
		return
	}
	if !configured {
		maps.Copy(s.Allocatable, template.Status.Allocatable)
	}
	for _, i := range template.Status.Images {
		if !slices.ContainsFunc(s.Images, func(pulled corev1.ContainerImage) bool { return slices.Equal(pulled.Names, i.Names) }) {
			s.Images = append(s.Images, i)
		}
	}
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
