package main

import (
	"fmt"

	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/node"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
)

// nodeFlags configure the simulated nodes.
type nodeFlags struct {
	capacity map[string]string
	template string
	images   string
	devices  string
	kinds    []string
	adopt    bool
}

func (f *nodeFlags) register(flags *pflag.FlagSet) {
	flags.StringToStringVar(&f.capacity, "node-capacity", nil,
		"capacity of each simulated node, as cpu=8,memory=32Gi,example.com/gpu=2; takes precedence over the template (default cpu=32,memory=256Gi,ephemeral-storage=100Gi,pods=110)")
	flags.StringSliceVar(&f.kinds, "enable-crds", nil,
		"kwok's kinds to serve as API objects, in effect at once (Stage,ClusterLogs,...; '*' for all); users that may write Exec and PortForward objects can run programs on the machine that simulates the nodes")
	flags.BoolVar(&f.adopt, "adopt-nodes", true,
		"simulate each Node that is applied with the annotation kwok.x-k8s.io/node=fake or fairlead.dev/simulated=true (default true unless --nodes=0)")
	flags.StringVar(&f.images, "images", "", "file with ImageBehaviors: how long containers of images are pulled, start and run, how they end, and what they use")
	flags.StringVar(&f.template, "node-template", "", "file with a Node: labels, annotations, taints, and status (capacity, allocatable, nodeInfo, images) of each simulated node; further documents may be its KubeletConfiguration and its Machine (docs/nodes.md)")
	flags.StringVar(&f.devices, "devices", "", "file with the devices, such as GPUs, that simulated nodes publish in ResourceSlices: models, counts, partitions and failures (docs/devices.md)")
}

// loadDevices reads the file of --devices; nil without the flag.
func (f *nodeFlags) loadDevices() (*node.Devices, error) {
	if f.devices == "" {
		return nil, nil
	}
	devices, err := node.LoadDevices(f.devices)
	if err != nil {
		return nil, usageError{fmt.Errorf("--devices: %w", err)}
	}
	return devices, nil
}

// definitions reads the files of kwok's kinds and that of images, and which of the kinds are the server's as well.
func (f *nodeFlags) definitions(paths []string) (*kwok.Definitions, []kwok.Definition, error) {
	kinds, err := kwok.Kinds(f.kinds...)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--enable-crds: %w", err)}
	}
	defs, err := kwok.Load(paths...)
	if err != nil {
		return nil, nil, fmt.Errorf("--stages: %w", err)
	}
	if f.images != "" {
		if defs.Images, err = images.Load(f.images); err != nil {
			return nil, nil, usageError{fmt.Errorf("--images: %w", err)}
		}
	}
	return defs, kinds, nil
}

func (f *nodeFlags) load() (corev1.ResourceList, *corev1.Node, error) {
	capacity, err := node.ParseCapacity(f.capacity)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--node-capacity: %w", err)}
	}
	if f.template == "" {
		return capacity, nil, nil
	}
	template, err := node.LoadTemplate(f.template)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--node-template: %w", err)}
	}
	return capacity, template, nil
}

// adopts returns the value of --adopt-nodes; nil for the default.
func (f *nodeFlags) adopts(flags *pflag.FlagSet) *bool {
	if !flags.Changed("adopt-nodes") {
		return nil
	}
	return &f.adopt
}
