package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/plugins"
)

type resourceWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
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
				Shape []struct {
					Utilization int32 `json:"utilization"`
					Score       int32 `json:"score"`
				} `json:"shape"`
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
		BindTimeoutSeconds *int64 `json:"bindTimeoutSeconds"`
	}
	nodeAffinityArgs struct {
		metav1.TypeMeta `json:",inline"`
		AddedAffinity   *corev1.NodeAffinity `json:"addedAffinity"`
	}
)

// readArgs reads the pluginConfig of a profile, whose path is given for errors.
func readArgs(path *field.Path, list []pluginConfig) (*plugins.Args, []error) {
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
		}[c.Name]
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

// parse reads a plugin's arguments strictly; the kind may be left out.
func parse(path *field.Path, raw []byte, into any, kind func() metav1.TypeMeta, want string) field.ErrorList {
	if err := yaml.UnmarshalStrict(raw, into); err != nil {
		return field.ErrorList{field.Invalid(path, string(raw), err.Error())}
	}
	if k := kind().Kind; k != "" && k != want {
		return field.ErrorList{field.Invalid(path, k, fmt.Sprintf("args were not of type %s.kubescheduler.config.k8s.io", want))}
	}
	return nil
}

func (a *argsReader) readFit(path *field.Path, raw []byte) field.ErrorList {
	var args fitArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "NodeResourcesFitArgs"); errs != nil {
		return errs
	}
	var errs field.ErrorList
	for i, name := range args.IgnoredResources {
		errs = append(errs, metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i))...)
	}
	for i, group := range args.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			errs = append(errs, field.Invalid(at, group, "resource group name can't contain '/'"))
		}
		errs = append(errs, metav1validation.ValidateLabelName(group, at)...)
	}
	if len(args.IgnoredResources)+len(args.IgnoredResourceGroups) > 0 {
		a.IgnoredResources = &plugins.IgnoredResources{Names: args.IgnoredResources, Groups: args.IgnoredResourceGroups}
	}
	s := args.ScoringStrategy
	if s == nil {
		return errs
	}
	at := path.Child("scoringStrategy")
	if len(s.Resources) > 0 {
		a.Allocation.Resources = nil
	}
	for i, r := range s.Resources {
		if r.Weight == 0 {
			r.Weight = 1
		}
		if r.Weight < 0 || r.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("resources").Index(i).Child("weight"), r.Weight, fmt.Sprintf("resource weight of %s not in valid range (0, 100]", r.Name)))
		}
		a.Allocation.Resources = append(a.Allocation.Resources, plugins.WeightedResource{Name: corev1.ResourceName(r.Name), Weight: r.Weight})
	}
	names := []string{"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}
	kind := slices.Index(names, s.Type)
	if s.Type == "" {
		kind = 0
	}
	if kind < 0 {
		return append(errs, field.NotSupported(at.Child("type"), s.Type, names))
	}
	a.Allocation.Strategy = plugins.ScoringStrategy(kind)
	ratio := at.Child("requestedToCapacityRatio")
	switch {
	case a.Allocation.Strategy != plugins.RequestedToCapacityRatio && s.RequestedToCapacityRatio != nil:
		errs = append(errs, field.Forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio"))
	case a.Allocation.Strategy == plugins.RequestedToCapacityRatio && s.RequestedToCapacityRatio == nil:
		errs = append(errs, field.Required(ratio, "must be specified when type is RequestedToCapacityRatio"))
	case a.Allocation.Strategy == plugins.RequestedToCapacityRatio:
		shape := s.RequestedToCapacityRatio.Shape
		if len(shape) == 0 {
			errs = append(errs, field.Required(ratio.Child("shape"), "at least one point must be specified"))
		}
		for i, p := range shape {
			at := ratio.Child("shape").Index(i)
			if i > 0 && shape[i-1].Utilization >= p.Utilization {
				errs = append(errs, field.Invalid(at.Child("utilization"), p.Utilization, "values must be sorted in increasing order"))
			}
			if p.Utilization < 0 || p.Utilization > 100 {
				errs = append(errs, field.Invalid(at.Child("utilization"), p.Utilization, "not in valid range [0, 100]"))
			}
			if p.Score < 0 || p.Score > 10 {
				errs = append(errs, field.Invalid(at.Child("score"), p.Score, "not in valid range [0, 10]"))
			}
			a.Allocation.Shape = append(a.Allocation.Shape, plugins.ShapePoint{Utilization: int64(p.Utilization), Score: 10 * int64(p.Score)})
		}
	}
	return errs
}

func (a *argsReader) readBalanced(path *field.Path, raw []byte) field.ErrorList {
	var args balancedArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "NodeResourcesBalancedAllocationArgs"); errs != nil {
		return errs
	}
	if len(args.Resources) == 0 {
		return nil
	}
	var errs field.ErrorList
	a.Balanced = nil
	for i, r := range args.Resources {
		at := path.Child("resources").Index(i)
		name := corev1.ResourceName(r.Name)
		if slices.ContainsFunc(a.Balanced, func(w plugins.WeightedResource) bool { return w.Name == name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), r.Name))
		}
		if r.Weight != 0 && r.Weight != 1 {
			errs = append(errs, field.Invalid(at.Child("weight"), r.Weight, "must be 1"))
		}
		a.Balanced = append(a.Balanced, plugins.WeightedResource{Name: name, Weight: 1})
	}
	return errs
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

func (a *argsReader) readSpread(path *field.Path, raw []byte) field.ErrorList {
	var args spreadArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "PodTopologySpreadArgs"); errs != nil {
		return errs
	}
	var errs field.ErrorList
	switch at := path.Child("defaultingType"); args.DefaultingType {
	case "", "System":
		if len(args.DefaultConstraints) == 0 {
			return nil
		}
		if args.DefaultingType != "" {
			return field.ErrorList{field.Invalid(at, args.DefaultingType, "when .defaultConstraints are not empty")}
		}
		return field.ErrorList{field.Invalid(at, "System", "when .defaultConstraints are not empty")}
	case "List":
	default:
		return field.ErrorList{field.NotSupported(at, args.DefaultingType, []string{"System", "List"})}
	}
	for i, c := range args.DefaultConstraints {
		at := path.Child("defaultConstraints").Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
		}
		if c.TopologyKey == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		} else {
			errs = append(errs, metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		}
		switch when := c.WhenUnsatisfiable; when {
		case corev1.DoNotSchedule, corev1.ScheduleAnyway:
		case "":
			errs = append(errs, field.Required(at.Child("whenUnsatisfiable"), "can not be empty"))
		default:
			errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), when, []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
		}
		if c.LabelSelector != nil {
			errs = append(errs, field.Forbidden(at.Child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
		}
		if slices.ContainsFunc(args.DefaultConstraints[:i], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			errs = append(errs, field.Duplicate(at, fmt.Sprintf("{%s, %s}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
	}
	a.SpreadDefaults = &plugins.SpreadDefaults{Constraints: args.DefaultConstraints}
	return errs
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
	return nil
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
