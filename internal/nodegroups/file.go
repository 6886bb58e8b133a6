package nodegroups

import (
	"encoding/json"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/images"
)

// APIVersion and Kind are those of a file of node groups.
const (
	APIVersion = "config.fairlead.dev/v1alpha1"
	Kind       = "NodeGroups"
)

// File describes node groups. docs/nodegroups.md has an example.
type File struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Seed changes all that happens by chance.
	Seed int64 `json:"seed,omitempty"`
	// GPULabel is the label of nodes with the model of their GPUs; "accelerator" by default.
	GPULabel string  `json:"gpuLabel,omitempty"`
	Groups   []Group `json:"groups"`
}

// Group describes a group of equal nodes.
type Group struct {
	// Name is the ID of the group, and the beginning of its nodes' names.
	Name string `json:"name"`
	// Min and Max bound the number of instances.
	Min int `json:"min,omitempty"`
	Max int `json:"max"`
	// Template has the documents of node.ParseTemplate: a Node, and perhaps its KubeletConfiguration and its Machine.
	Template []json.RawMessage `json:"template"`
	// Zones are given to the instances in turn.
	Zones []string `json:"zones,omitempty"`
	// PricePerHour is that of an instance, in any currency.
	PricePerHour float64 `json:"pricePerHour,omitempty"`
	// ProvisionTime is how long an instance is created, RegistrationTime how long it then takes until its Node exists.
	ProvisionTime    *images.Span `json:"provisionTime,omitempty"`
	RegistrationTime *images.Span `json:"registrationTime,omitempty"`
	// Stock is how many instances the group can have at a time; Max by default. Others wait.
	Stock *int `json:"stock,omitempty"`
	// StockOuts are times in which no instance can be created.
	StockOuts []StockOut `json:"stockOuts,omitempty"`
	// Failures hit instances by chance, at most one of them an instance.
	Failures []Failure `json:"failures,omitempty"`
	// Autoscaling changes the autoscaler's options for the group.
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	node *corev1.Node // of Template
}

// StockOut is a time without stock. It begins at After, counted from the first start with the group.
type StockOut struct {
	After metav1.Duration `json:"after,omitempty"`
	For   metav1.Duration `json:"for"`
}

// Failure is an error with which the creation of instances fails.
type Failure struct {
	// Rate is the share of the instances that fail so.
	Rate float64 `json:"rate"`
	// Code and Message are those of the provider, such as QUOTA_EXCEEDED.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Class is OutOfResources, by default, or Other.
	Class Class `json:"class,omitempty"`
}

// Class is the class of an error as Cluster Autoscaler knows it.
type Class string

// The classes of errors.
const (
	OutOfResources Class = "OutOfResources"
	Other          Class = "Other"
)

// number returns the class on the wire.
func (c Class) number() int32 {
	if c == Other {
		return 99
	}
	return 1
}

// Autoscaling has the options of a group in which it differs from the autoscaler's flags.
type Autoscaling struct {
	ScaleDownUtilizationThreshold    *float64         `json:"scaleDownUtilizationThreshold,omitempty"`
	ScaleDownGPUUtilizationThreshold *float64         `json:"scaleDownGpuUtilizationThreshold,omitempty"`
	ScaleDownUnneededTime            *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	ScaleDownUnreadyTime             *metav1.Duration `json:"scaleDownUnreadyTime,omitempty"`
	MaxNodeProvisionTime             *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
	ZeroOrMaxNodeScaling             *bool            `json:"zeroOrMaxNodeScaling,omitempty"`
	IgnoreDaemonSetsUtilization      *bool            `json:"ignoreDaemonSetsUtilization,omitempty"`
}

// Load reads a file of node groups. Unknown fields and values that cannot be are errors.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.APIVersion != APIVersion || f.Kind != Kind {
		return nil, fmt.Errorf("%s: want apiVersion %s and kind %s", path, APIVersion, Kind)
	}
	if f.GPULabel == "" {
		f.GPULabel = "accelerator"
	}
	if errs := f.complete(); len(errs) > 0 {
		return nil, fmt.Errorf("%s: %w", path, errs.ToAggregate())
	}
	return f, nil
}

// prices reports whether any group has a price.
func (f *File) prices() bool {
	for i := range f.Groups {
		if f.Groups[i].PricePerHour > 0 {
			return true
		}
	}
	return false
}
