package storage

import (
	"cmp"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var driverTable = resource.TableOf(func(d *storagev1.CSIDriver) []any {
	s, tokens := &d.Spec, resource.Unset
	if s.TokenRequests != nil {
		var audiences []string
		for _, t := range s.TokenRequests {
			audiences = append(audiences, t.Audience)
		}
		tokens = strings.Join(audiences, ",")
	}
	var modes []string
	for _, m := range s.VolumeLifecycleModes {
		modes = append(modes, string(m))
	}
	return []any{
		d.Name, ptr.Deref(s.AttachRequired, true), ptr.Deref(s.PodInfoOnMount, false), ptr.Deref(s.StorageCapacity, false),
		tokens, ptr.Deref(s.RequiresRepublish, false), cmp.Or(strings.Join(modes, ","), resource.None), resource.AgeOf(d),
	}
},
	resource.NameColumn,
	resource.Boolean("AttachRequired", "Whether volumes are attached before they are mounted."),
	resource.Boolean("PodInfoOnMount", "Whether the driver is told about the pod."),
	resource.Boolean("StorageCapacity", "Whether the driver says how much room there is."),
	resource.Text("TokenRequests", "Audiences of the tokens that the driver gets."),
	resource.Boolean("RequiresRepublish", "Whether mounts are renewed from time to time."),
	resource.Text("Modes", "What life volumes of the driver lead."),
	resource.AgeColumn,
)

var driverStrategy = resource.Rules[*storagev1.CSIDriver]{
	Default: func(d *storagev1.CSIDriver) {
		s := &d.Spec
		resource.SetDefault(&s.AttachRequired, true)
		resource.SetDefault(&s.PodInfoOnMount, false)
		resource.SetDefault(&s.StorageCapacity, false)
		resource.SetDefault(&s.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		if len(s.VolumeLifecycleModes) == 0 {
			s.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
		}
		resource.SetDefault(&s.RequiresRepublish, false)
		resource.SetDefault(&s.SELinuxMount, false)
		resource.SetDefault(&s.PreventPodSchedulingIfMissing, false)
	},
	Warnings: func(d *storagev1.CSIDriver) []string {
		if len(d.Spec.TokenRequests) > 0 && d.Spec.ServiceAccountTokenInSecrets == nil {
			return []string{tokensLeak}
		}
		return nil
	},
	UpdateWarnings: func(d, old *storagev1.CSIDriver) []string {
		same := apiequality.Semantic.DeepEqual(d.Spec.TokenRequests, old.Spec.TokenRequests)
		if !same && len(d.Spec.TokenRequests) > 0 && d.Spec.ServiceAccountTokenInSecrets == nil {
			return []string{tokensLeak}
		}
		return nil
	},
	PrepareForUpdate: func(d, old *storagev1.CSIDriver) {
		if !apiequality.Semantic.DeepEqual(d.Spec.TokenRequests, old.Spec.TokenRequests) ||
			!apiequality.Semantic.DeepEqual(d.Spec.RequiresRepublish, old.Spec.RequiresRepublish) ||
			!apiequality.Semantic.DeepEqual(d.Spec.SELinuxMount, old.Spec.SELinuxMount) {
			d.Generation = old.Generation + 1
		}
	},
	Validate: validateDriver,
	ValidateUpdate: func(d, old *storagev1.CSIDriver) field.ErrorList {
		var f check.Errors
		f.Add(validateDriver(d)...)
		f.Same(check.At("spec", "attachedRequired"), d.Spec.AttachRequired, old.Spec.AttachRequired)
		f.Same(check.At("spec", "volumeLifecycleModes"), d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes)
		return f.List()
	},
	RequireResourceVersion: true,
}.Strategy()

func validateDriver(d *storagev1.CSIDriver) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &d.Spec
	if s.FSGroupPolicy != nil {
		check.Known(&f, p.Child("fsGroupPolicy"), *s.FSGroupPolicy,
			storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	}
	seen := map[string]bool{}
	for i, t := range s.TokenRequests {
		at := p.Child("tokenRequests").Index(i)
		if seen[t.Audience] {
			f.Duplicate(at.Child("audience"), t.Audience)
			continue
		}
		seen[t.Audience] = true
		if n := t.ExpirationSeconds; n != nil && *n < 600 {
			f.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration less than 10 minutes")
		} else if n != nil && *n > 1<<32 {
			f.Invalid(at.Child("expirationSeconds"), *n, "may not specify a duration larger than 2^32 seconds")
		}
	}
	for _, m := range s.VolumeLifecycleModes {
		check.Known(&f, p.Child("volumeLifecycleModes"), m, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)
	}
	if n := s.NodeAllocatableUpdatePeriodSeconds; n != nil && *n < 10 {
		f.Invalid(p.Child("nodeAllocatableUpdatePeriodSeconds"), *n, "must be greater than or equal to 10 seconds")
	}
	if s.ServiceAccountTokenInSecrets != nil && len(s.TokenRequests) == 0 {
		f.Invalid(p.Child("serviceAccountTokenInSecrets"), s.ServiceAccountTokenInSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	}
	return f.List()
}

var csiNodeTable = resource.TableOf(func(n *storagev1.CSINode) []any {
	return []any{n.Name, int64(len(n.Spec.Drivers)), resource.AgeOf(n)}
}, resource.NameColumn, resource.Integer("Drivers", "How many drivers run on the node."), resource.AgeColumn)

var csiNodeStrategy = resource.Rules[*storagev1.CSINode]{
	PrepareForCreate: func(n *storagev1.CSINode) { resource.NilIfEmpty(&n.Spec.Drivers) },
	PrepareForUpdate: func(n, _ *storagev1.CSINode) { resource.NilIfEmpty(&n.Spec.Drivers) },
	Validate:         validateCSINode,
	ValidateUpdate: func(n, old *storagev1.CSINode) field.ErrorList {
		var f check.Errors
		f.Add(validateCSINode(n)...)
		for _, was := range old.Spec.Drivers {
			for _, now := range n.Spec.Drivers {
				if was.Name == now.Name {
					was.Allocatable, now.Allocatable = nil, nil
					f.Same(check.At("spec", "drivers"), now, was)
				}
			}
		}
		return f.List()
	},
	RequireResourceVersion: true,
}.Strategy()

func validateCSINode(n *storagev1.CSINode) field.ErrorList {
	var f check.Errors
	const maxID = 192
	names := map[string]bool{}
	for i, d := range n.Spec.Drivers {
		p := check.At("spec", "drivers").Index(i)
		podspec.CSIDriverName(&f, p.Child("name"), d.Name)
		if d.NodeID == "" {
			f.Required(p.Child("nodeID"), "")
		} else if len(d.NodeID) > maxID {
			f.Invalid(p.Child("nodeID"), d.NodeID, "must be 192 characters or less")
		}
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			f.NotNegative(p.Child("allocatable", "count"), int64(*d.Allocatable.Count))
		}
		if names[d.Name] {
			f.Duplicate(p.Child("name"), d.Name)
		}
		names[d.Name] = true
		keys := map[string]bool{}
		for _, key := range d.TopologyKeys {
			if key == "" {
				f.Required(p, "")
			}
			if keys[key] {
				f.Duplicate(p, key)
			}
			keys[key] = true
			f.Qualified(p, key)
		}
	}
	return f.List()
}

var capacityTable = resource.TableOf(func(c *storagev1.CSIStorageCapacity) []any {
	return []any{c.Name, resource.CreatedAt(c)}
}, resource.NameColumn, resource.CreatedColumn)

var capacityStrategy = resource.Rules[*storagev1.CSIStorageCapacity]{
	Validate: func(c *storagev1.CSIStorageCapacity) field.ErrorList {
		var f check.Errors
		f.Selector(check.At("nodeTopology"), c.NodeTopology)
		f.Subdomain(check.At("storageClassName"), c.StorageClassName)
		if c.Capacity != nil {
			f.QuantityNotNegative(check.At("capacity"), *c.Capacity)
		}
		return f.List()
	},
	ValidateUpdate: func(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
		var f check.Errors
		f.Same(check.At("nodeTopology"), c.NodeTopology, old.NodeTopology)
		f.Same(check.At("storageClassName"), c.StorageClassName, old.StorageClassName)
		return f.List()
	},
	RequireResourceVersion: true,
}.Strategy()

const tokensLeak = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"
