package config

import (
	"fmt"
	"slices"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/plugins"
)

// pluginSets are the plugins of a profile by extension point.
type pluginSets struct {
	PreEnqueue pluginSet `json:"preEnqueue"`
	QueueSort  pluginSet `json:"queueSort"`
	PreFilter  pluginSet `json:"preFilter"`
	Filter     pluginSet `json:"filter"`
	PostFilter pluginSet `json:"postFilter"`
	PreScore   pluginSet `json:"preScore"`
	Score      pluginSet `json:"score"`
	Reserve    pluginSet `json:"reserve"`
	Permit     pluginSet `json:"permit"`
	PreBind    pluginSet `json:"preBind"`
	Bind       pluginSet `json:"bind"`
	PostBind   pluginSet `json:"postBind"`
	MultiPoint pluginSet `json:"multiPoint"`

	PlacementGenerate  pluginSet `json:"placementGenerate"`
	PlacementScore     pluginSet `json:"placementScore"`
	PodGroupPostFilter pluginSet `json:"podGroupPostFilter"`
}

// byPoint returns the plugins of each extension point by its name, and those of multiPoint.
func (s *pluginSets) byPoint() map[string]*pluginSet {
	return map[string]*pluginSet{
		"preEnqueue": &s.PreEnqueue, "queueSort": &s.QueueSort, "preFilter": &s.PreFilter, "filter": &s.Filter,
		"postFilter": &s.PostFilter, "preScore": &s.PreScore, "score": &s.Score, "reserve": &s.Reserve,
		"permit": &s.Permit, "preBind": &s.PreBind, "bind": &s.Bind, "postBind": &s.PostBind, "multiPoint": &s.MultiPoint,
		"placementGenerate": &s.PlacementGenerate, "placementScore": &s.PlacementScore, "podGroupPostFilter": &s.PodGroupPostFilter,
	}
}

type pluginSet struct {
	Enabled  []pluginRef `json:"enabled"`
	Disabled []pluginRef `json:"disabled"`
}

type pluginRef struct {
	Name   string `json:"name"`
	Weight *int32 `json:"weight"`
}

func (s *pluginSet) disables(name string) bool {
	return slices.ContainsFunc(s.Disabled, func(r pluginRef) bool { return r.Name == "*" || r.Name == name })
}

func (s *pluginSet) enabled(name string) (pluginRef, bool) {
	i := slices.IndexFunc(s.Enabled, func(r pluginRef) bool { return r.Name == name })
	if i < 0 {
		return pluginRef{}, false
	}
	return s.Enabled[i], true
}

// newProfile makes the profile of c. Each filter includes its PreFilter, so disabling one of
// preFilter and filter disables both; likewise preScore and score, of plugins that have both.
func newProfile(c profileConfig, args *plugins.Args, from External) (framework.Profile, error) {
	sets, name := &c.Plugins, ""
	if c.SchedulerName != nil {
		name = *c.SchedulerName
	}
	if err := sets.checkNames(from); err != nil {
		return framework.Profile{}, err
	}
	externals, err := newExternals(name, sets, c.PluginConfig, from)
	if err != nil {
		return framework.Profile{}, err
	}
	all := sets.everywhere()
	if err := sets.check(externals, all); err != nil {
		return framework.Profile{}, err
	}
	p := framework.Profile{
		Name:         name,
		Filters:      plugins.Mandatory(),
		NoPreemption: !isOn(&sets.PostFilter, nil, all, "DefaultPreemption"),
	}
	p.MinCandidateNodesPercentage, p.MinCandidateNodesAbsolute = args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute
	args.Devices.NoPostFilter = !isOn(&sets.PostFilter, nil, all, "DynamicResources")
	args.Devices.NoGroupPostFilter = !isOn(&sets.PodGroupPostFilter, nil, all, "DynamicResources")
	for _, name := range ordered(&sets.Filter, all) {
		if k := plugins.Find(name); k != nil && k.Filter != nil && isOn(&sets.Filter, &sets.PreFilter, all, name) {
			p.Filters = append(p.Filters, k.Filter(args))
		}
	}
	for _, name := range ordered(&sets.Score, all) {
		k, before := plugins.Find(name), &sets.PreScore
		if !slices.Contains(plugins.Points[name], "preScore") {
			before = nil
		}
		if k == nil || k.Score == nil || !isOn(&sets.Score, before, all, name) {
			continue
		}
		p.Scores = append(p.Scores, framework.WeightedScore{Score: k.Score(args), Weight: weight(sets, all, name, k.Weight)})
	}
	externals.enable(&p, sets, all)
	return p, nil
}

// weight returns the weight of a score: that of the point, of multiPoint, or usual.
func weight(sets *pluginSets, all []pluginRef, name string, usual int64) int64 {
	if r, ok := sets.Score.enabled(name); ok && r.Weight != nil && *r.Weight != 0 {
		return int64(*r.Weight)
	}
	for _, r := range all {
		if r.Name == name && r.Weight != nil && *r.Weight != 0 {
			return int64(*r.Weight)
		}
	}
	return max(usual, 1)
}

// everywhere returns the plugins that multiPoint enables: the default ones without those that are
// disabled, then those that the file adds.
func (s *pluginSets) everywhere() (all []pluginRef) {
	names := make([]string, 0, len(plugins.All)+len(plugins.BuiltIn))
	for i := range plugins.All {
		names = append(names, plugins.All[i].Name)
	}
	for _, name := range append(names, plugins.BuiltIn...) {
		if s.MultiPoint.disables(name) {
			continue
		}
		ref, ok := s.MultiPoint.enabled(name)
		if !ok {
			ref = pluginRef{Name: name}
		}
		all = append(all, ref)
	}
	for _, ref := range s.MultiPoint.Enabled {
		if !slices.ContainsFunc(all, func(r pluginRef) bool { return r.Name == ref.Name }) {
			all = append(all, ref)
		}
	}
	return all
}

// ordered returns the names of the plugins of a point: first those that multiPoint enables and the
// point names again, then the others that multiPoint enables, then the rest.
func ordered(point *pluginSet, all []pluginRef) (names []string) {
	everywhere := func(name string) bool {
		return slices.ContainsFunc(all, func(r pluginRef) bool { return r.Name == name })
	}
	for _, r := range point.Enabled {
		if everywhere(r.Name) {
			names = append(names, r.Name)
		}
	}
	for _, r := range all {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	for _, r := range point.Enabled {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// isOn reports whether a plugin is enabled at a point and not disabled at the point before it, if
// there is one.
func isOn(point, before *pluginSet, all []pluginRef, name string) bool {
	on := func(s *pluginSet) bool {
		if _, named := s.enabled(name); named {
			return true
		}
		return !s.disables(name) && slices.ContainsFunc(all, func(r pluginRef) bool { return r.Name == name })
	}
	if before != nil && before.disables(name) {
		if _, named := before.enabled(name); !named {
			return false
		}
	}
	return on(point)
}

// checkNames rejects unknown plugins.
func (s *pluginSets) checkNames(from External) error {
	for point, set := range s.byPoint() {
		seen := map[string]bool{}
		for _, r := range set.Enabled {
			switch {
			case slices.Contains(plugins.Removed, r.Name):
				return fmt.Errorf("%s plugin %q was invalid in version %q", point, r.Name, "kubescheduler.config.k8s.io/v1")
			case plugins.Points[r.Name] == nil && (from == nil || !from.Has(r.Name)):
				return fmt.Errorf("%s plugin %q does not exist", point, r.Name)
			case seen[r.Name]:
				return fmt.Errorf("plugin %q already registered as %q", r.Name, point)
			case r.Weight != nil && *r.Weight < 0:
				return fmt.Errorf("score plugin %q is configured with weight %d", r.Name, *r.Weight)
			}
			seen[r.Name] = true
		}
	}
	return nil
}

// check rejects plugins at points that they do not have, and combinations that this scheduler does not support.
func (s *pluginSets) check(x *externalSet, all []pluginRef) error {
	for point, set := range s.byPoint() {
		for _, r := range set.Enabled {
			if point != "multiPoint" && !x.extends(r.Name, point) {
				return fmt.Errorf("plugin %q does not extend %s plugin", r.Name, point)
			}
			if x.has(r.Name) && slices.Contains([]string{"placementGenerate", "placementScore", "podGroupPostFilter"}, point) {
				return fmt.Errorf("plugin %q is enabled at %s, which this scheduler does not have for plugins of other programs", r.Name, point)
			}
		}
	}
	if err := x.one(s, all); err != nil {
		return err
	}
	if !isOn(&s.PreEnqueue, nil, all, "SchedulingGates") {
		return fmt.Errorf("plugin %q is disabled, which this scheduler cannot do without", "SchedulingGates")
	}
	for point, set := range map[string]*pluginSet{"reserve": &s.Reserve, "preBind": &s.PreBind} {
		for _, name := range []string{"VolumeBinding", "DynamicResources"} {
			if set.disables(name) && isOn(&s.Filter, &s.PreFilter, all, name) {
				return fmt.Errorf("plugin %q is disabled at %s alone, where it does what it promises at filter", name, point)
			}
		}
	}
	return nil
}

// idle returns the plugins that are enabled but have no effect here, sorted.
func (s *pluginSets) idle() (names []string) {
	for _, set := range s.byPoint() {
		for _, r := range set.Enabled {
			if slices.Contains(plugins.Idle, r.Name) && !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// DefaultProfile returns the filters, scores and weights of kube-scheduler's default profile. The
// caller owns the slices.
func DefaultProfile() framework.Profile {
	p, err := newProfile(profileConfig{}, plugins.DefaultArgs(), nil)
	if err != nil {
		panic(err)
	}
	return p
}
