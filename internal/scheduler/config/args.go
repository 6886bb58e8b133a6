package config

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/plugins"
)

type resourceWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

type shapePoint struct {
	Utilization int32 `json:"utilization"`
	Score       int32 `json:"score"`
}

type (
	fitArgs struct {
		metav1.TypeMeta       `json:",inline"`
		IgnoredResources      []string `json:"ignoredResources"`
		IgnoredResourceGroups []string `json:"ignoredResourceGroups"`
		ScoringStrategy       *struct {
			Type                     string           `json:"type"`
			Resources                []resourceWeight `json:"resources"`
			RequestedToCapacityRatio *struct {
				Shape []shapePoint `json:"shape"`
			} `json:"requestedToCapacityRatio"`
		} `json:"scoringStrategy"`
	}
	balancedArgs struct {
		metav1.TypeMeta `json:",inline"`
		Resources       []resourceWeight `json:"resources"`
	}
	interPodArgs struct {
		metav1.TypeMeta                    `json:",inline"`
		HardPodAffinityWeight              *int32 `json:"hardPodAffinityWeight"`
		IgnorePreferredTermsOfExistingPods bool   `json:"ignorePreferredTermsOfExistingPods"`
	}
	spreadArgs struct {
		metav1.TypeMeta    `json:",inline"`
		DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints"`
		DefaultingType     string                            `json:"defaultingType"`
	}
	preemptionArgs struct {
		metav1.TypeMeta             `json:",inline"`
		MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage"`
		MinCandidateNodesAbsolute   *int32 `json:"minCandidateNodesAbsolute"`
	}
	volumeArgs struct {
		metav1.TypeMeta    `json:",inline"`
		BindTimeoutSeconds *int64       `json:"bindTimeoutSeconds"`
		Shape              []shapePoint `json:"shape"`
	}
	devicesArgs struct {
		metav1.TypeMeta `json:",inline"`
		FilterTimeout   *metav1.Duration `json:"filterTimeout"`
		BindingTimeout  *metav1.Duration `json:"bindingTimeout"`
	}
	nodeAffinityArgs struct {
		metav1.TypeMeta `json:",inline"`
		AddedAffinity   *corev1.NodeAffinity `json:"addedAffinity"`
	}
)

// readArgs reads the pluginConfig of a profile at path.
func readArgs(path *field.Path, list []pluginConfig, from External) (*plugins.Args, []error) {
	a := &argsReader{plugins.DefaultArgs()}
	var errs []error
	seen := map[string]bool{}
	for i, c := range list {
		path := path.Index(i)
		if seen[c.Name] {
			errs = append(errs, field.Duplicate(path, c.Name))
			continue
		}
		seen[c.Name] = true
		read, ok := map[string]func(*field.Path, []byte) field.ErrorList{
			"NodeResourcesFit":                a.readFit,
			"NodeResourcesBalancedAllocation": a.readBalanced,
			"InterPodAffinity":                a.readInterPod,
			"PodTopologySpread":               a.readSpread,
			"VolumeBinding":                   a.readVolumes,
			"DefaultPreemption":               a.readPreemption,
			"NodeAffinity":                    a.readNodeAffinity,
			"DynamicResources":                a.readDevices,
		}[c.Name]
		if !ok && (from != nil && from.Has(c.Name) || plugins.Points[c.Name] != nil) {
			continue // a plugin without arguments, or one that reads them itself
		}
		if !ok {
			errs = append(errs, field.Invalid(path.Child("name"), c.Name, "no plugin of this scheduler takes arguments by this name"))
			continue
		}
		for _, err := range read(path.Child("args"), c.Args.Raw) {
			errs = append(errs, err)
		}
	}
	return a.Args, errs
}

// argsReader sets the arguments of plugins.
type argsReader struct{ *plugins.Args }

// parse parses a plugin's arguments strictly; the kind may be omitted.
func parse(path *field.Path, raw []byte, into any, kind func() metav1.TypeMeta, want string) field.ErrorList {
	if err := yaml.UnmarshalStrict(raw, into); err != nil {
		return field.ErrorList{field.Invalid(path, string(raw), err.Error())}
	}
	if k := kind().Kind; k != "" && k != want {
		return field.ErrorList{field.Invalid(path, k, fmt.Sprintf("args were not of type %s.kubescheduler.config.k8s.io", want))}
	}
	return nil
}

func (a *argsReader) readInterPod(path *field.Path, raw []byte) field.ErrorList {
	var args interPodArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "InterPodAffinityArgs"); errs != nil {
		return errs
	}
	a.IgnorePreferredTermsOfExistingPods = args.IgnorePreferredTermsOfExistingPods
	if w := args.HardPodAffinityWeight; w != nil {
		if *w < 0 || *w > 100 {
			return field.ErrorList{field.Invalid(path.Child("hardPodAffinityWeight"), *w, "not in valid range [0, 100]")}
		}
		a.HardPodAffinityWeight = int64(*w)
	}
	return nil
}

func (a *argsReader) readPreemption(path *field.Path, raw []byte) field.ErrorList {
	var args preemptionArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "DefaultPreemptionArgs"); errs != nil {
		return errs
	}
	share, least := path.Child("minCandidateNodesPercentage"), path.Child("minCandidateNodesAbsolute")
	if p := args.MinCandidateNodesPercentage; p != nil {
		a.MinCandidateNodesPercentage = int(*p)
	}
	if n := args.MinCandidateNodesAbsolute; n != nil {
		a.MinCandidateNodesAbsolute = int(*n)
	}
	var errs field.ErrorList
	if p := a.MinCandidateNodesPercentage; p < 0 || p > 100 {
		errs = append(errs, field.Invalid(share, p, "not in valid range [0, 100]"))
	}
	if n := a.MinCandidateNodesAbsolute; n < 0 {
		errs = append(errs, field.Invalid(least, n, "not in valid range [0, inf)"))
	}
	if a.MinCandidateNodesPercentage == 0 && a.MinCandidateNodesAbsolute == 0 {
		errs = append(errs, field.Invalid(share, 0, "cannot be zero at the same time as minCandidateNodesAbsolute"),
			field.Invalid(least, 0, "cannot be zero at the same time as minCandidateNodesPercentage"))
	}
	return errs
}

func (a *argsReader) readVolumes(path *field.Path, raw []byte) field.ErrorList {
	var args volumeArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "VolumeBindingArgs"); errs != nil {
		return errs
	}
	if s := args.BindTimeoutSeconds; s != nil {
		if *s < 0 {
			return field.ErrorList{field.Invalid(path.Child("bindTimeoutSeconds"), *s, "invalid BindTimeoutSeconds, should not be a negative value")}
		}
		a.BindTimeout = time.Duration(*s) * time.Second
	}
	if len(args.Shape) == 0 {
		return nil
	}
	var errs field.ErrorList
	a.StorageShape, errs = readShape(path.Child("shape"), args.Shape)
	return errs
}

func (a *argsReader) readNodeAffinity(path *field.Path, raw []byte) field.ErrorList {
	var args nodeAffinityArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "NodeAffinityArgs"); errs != nil {
		return errs
	}
	added := args.AddedAffinity
	if added == nil {
		return nil
	}
	at := path.Child("addedAffinity")
	var errs field.ErrorList
	if required := added.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		rule, err := cache.NewRequiredNodeAffinity(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}})
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("requiredDuringSchedulingIgnoredDuringExecution"), required, err.Error()))
		}
		a.AddedAffinity = rule
	}
	for i := range added.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &added.PreferredDuringSchedulingIgnoredDuringExecution[i]
		term, err := cache.NewNodeSelectorTerm(&t.Preference)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i), t.Preference, err.Error()))
		}
		a.AddedPreferredAffinity = append(a.AddedPreferredAffinity, cache.PreferredSchedulingTerm{NodeSelectorTerm: term, Weight: int64(t.Weight)})
	}
	return errs
}
