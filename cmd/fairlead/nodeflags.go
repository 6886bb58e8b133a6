package main

import (
	"errors"
	"fmt"
	"net"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/nodegroups"
	"fairlead.dev/node"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// nodeFlags configure the simulated nodes.
type nodeFlags struct {
	capacity map[string]string
	template string
	zones    []string
	images   string
	devices  string
	kinds    []string
	adopt    bool
	groups   groupFlags
}

// groupFlags configure node groups.
type groupFlags struct {
	file, address string
	tls           controlplane.ServingFiles
}

func (f *nodeFlags) register(flags *pflag.FlagSet) {
	flags.StringToStringVar(&f.capacity, "node-capacity", nil,
		"capacity of each simulated node, as cpu=8,memory=32Gi,example.com/gpu=2; takes precedence over the template (default cpu=32,memory=256Gi,ephemeral-storage=100Gi,pods=110)")
	flags.StringSliceVar(&f.kinds, "enable-crds", nil,
		"kwok's kinds to serve as API objects, in effect at once (Stage,ClusterLogs,...; '*' for all); users that may write Exec and PortForward objects can run programs on the machine that simulates the nodes")
	flags.BoolVar(&f.adopt, "adopt-nodes", true,
		"simulate each Node that is applied with the annotation kwok.x-k8s.io/node=fake or fairlead.dev/simulated=true (default true unless --nodes=0 without --node-groups)")
	flags.StringVar(&f.images, "images", "", "file with ImageBehaviors: how long containers of images are pulled, start and run, how they end, and what they use")
	flags.StringVar(&f.template, "node-template", "", "file with a Node: labels, annotations, taints, and status (capacity, allocatable, nodeInfo, images) of each simulated node; further documents may be its KubeletConfiguration and its Machine (docs/nodes.md)")
	flags.StringSliceVar(&f.zones, "node-zones", nil, "zones of the simulated nodes, in turn, such as zone-a,zone-b: their label topology.kubernetes.io/zone")
	flags.StringVar(&f.devices, "devices", "", "file with the devices, such as GPUs, that simulated nodes publish in ResourceSlices: models, counts, partitions and failures (docs/devices.md)")
	flags.StringVar(&f.groups.file, "node-groups", "", "file with the node groups that Cluster Autoscaler scales: templates, sizes, prices, delays, stock and failures of simulated nodes (docs/nodegroups.md)")
	flags.StringVar(&f.groups.address, "node-groups-address", nodegroups.DefaultAddress, "address at which Cluster Autoscaler's external gRPC provider reaches the node groups")
	registerServing(flags, "node-groups-", "node groups", &f.groups.tls)
}

// loadGroups reads the file of --node-groups; nil without the flag.
func (f *nodeFlags) loadGroups(flags *pflag.FlagSet) (*nodegroups.Options, error) {
	if f.groups.file == "" {
		return nil, nil
	}
	if !f.adopt && flags.Changed("adopt-nodes") {
		return nil, usageError{errors.New("--node-groups excludes --adopt-nodes=false: the nodes of the groups would not be simulated")}
	}
	file, err := nodegroups.Load(f.groups.file)
	if err != nil {
		return nil, usageError{fmt.Errorf("--node-groups: %w", err)}
	}
	if _, _, err := net.SplitHostPort(f.groups.address); err != nil {
		return nil, usageError{fmt.Errorf("--node-groups-address: %w", err)}
	}
	config, err := f.groups.tls.TLS()
	if err != nil {
		return nil, usageError{fmt.Errorf("--node-groups-cert-file: %w", err)}
	}
	return &nodegroups.Options{File: file, Address: f.groups.address, TLS: config}, nil
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

// loadZones returns the zones of the nodes, whose template is given.
func (f *nodeFlags) loadZones(template *corev1.Node) ([]string, error) {
	for _, zone := range f.zones {
		if zone == "" {
			return nil, usageError{errors.New("--node-zones: a zone is empty")}
		}
		if errs := validation.IsValidLabelValue(zone); errs != nil {
			return nil, usageError{fmt.Errorf("--node-zones: %q is not the value of a label: %s", zone, errs[0])}
		}
	}
	if template != nil && template.Labels[corev1.LabelTopologyZone] != "" && len(f.zones) > 0 {
		return nil, usageError{fmt.Errorf("--node-zones: the template has the label %s", corev1.LabelTopologyZone)}
	}
	return f.zones, nil
}

// adopts returns the value of --adopt-nodes; nil for the default.
func (f *nodeFlags) adopts(flags *pflag.FlagSet) *bool {
	if !flags.Changed("adopt-nodes") {
		return nil
	}
	return &f.adopt
}
