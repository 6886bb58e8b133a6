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
// preFilter and filter disables both; likewise preScore and score.
func newProfile(c profileConfig, args *plugins.Args) (framework.Profile, error) {
	sets := &c.Plugins
	if err := sets.check(); err != nil {
		return framework.Profile{}, err
	}
	all := sets.everywhere()
	p := framework.Profile{
		Filters:      plugins.Mandatory(),
		NoPreemption: !isOn(&sets.PostFilter, nil, all, "DefaultPreemption"),
	}
	p.MinCandidateNodesPercentage, p.MinCandidateNodesAbsolute = args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute
	if c.SchedulerName != nil {
		p.Name = *c.SchedulerName
	}
	args.Devices.NoPostFilter = !isOn(&sets.PostFilter, nil, all, "DynamicResources")
	for _, name := range ordered(&sets.Filter, all) {
		if k := plugins.Find(name); k != nil && k.Filter != nil && isOn(&sets.Filter, &sets.PreFilter, all, name) {
			p.Filters = append(p.Filters, k.Filter(args))
		}
	}
	for _, name := range ordered(&sets.Score, all) {
		k := plugins.Find(name)
		if k == nil || k.Score == nil || !isOn(&sets.Score, &sets.PreScore, all, name) {
			continue
		}
		weight := weightOf(k, all)
		if r, ok := sets.Score.enabled(name); ok && r.Weight != nil && *r.Weight != 0 {
			weight = int64(*r.Weight)
		}
		p.Scores = append(p.Scores, framework.WeightedScore{Score: k.Score(args), Weight: weight})
	}
	return p, nil
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

func weightOf(k *plugins.Plugin, all []pluginRef) int64 {
	for _, r := range all {
		if r.Name == k.Name && r.Weight != nil && *r.Weight != 0 {
			return int64(*r.Weight)
		}
	}
	return max(k.Weight, 1)
}

// check rejects unknown plugins and combinations that this scheduler does not support.
func (s *pluginSets) check() error {
	for point, set := range map[string]*pluginSet{
		"preEnqueue": &s.PreEnqueue, "queueSort": &s.QueueSort, "preFilter": &s.PreFilter, "filter": &s.Filter,
		"postFilter": &s.PostFilter, "preScore": &s.PreScore, "score": &s.Score, "reserve": &s.Reserve,
		"permit": &s.Permit, "preBind": &s.PreBind, "bind": &s.Bind, "postBind": &s.PostBind, "multiPoint": &s.MultiPoint,
	} {
		seen := map[string]bool{}
		for _, r := range set.Enabled {
			k := plugins.Find(r.Name)
			switch {
			case k == nil && !slices.Contains(plugins.BuiltIn, r.Name):
				return fmt.Errorf("%s plugin %q does not exist", point, r.Name)
			case seen[r.Name]:
				return fmt.Errorf("plugin %q already registered as %q", r.Name, point)
			case r.Weight != nil && *r.Weight < 0:
				return fmt.Errorf("score plugin %q is configured with weight %d", r.Name, *r.Weight)
			case point == "filter" && k != nil && k.Filter == nil, point == "score" && k != nil && k.Score == nil:
				return fmt.Errorf("plugin %q does not extend %s plugin", r.Name, point)
			}
			seen[r.Name] = true
		}
	}
	all := s.everywhere()
	for name, set := range map[string]*pluginSet{
		"PrioritySort": &s.QueueSort, "DefaultBinder": &s.Bind, "SchedulingGates": &s.PreEnqueue,
	} {
		if !isOn(set, nil, all, name) {
			return fmt.Errorf("plugin %q is disabled, which this scheduler cannot do without", name)
		}
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

// DefaultProfile returns the filters, scores and weights of kube-scheduler's default profile. The
// caller owns the slices.
func DefaultProfile() framework.Profile {
	p, err := newProfile(profileConfig{}, plugins.DefaultArgs())
	if err != nil {
		panic(err)
	}
	return p
}
