package config

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/plugins"
)

// External are the plugins of another framework that a configuration may name.
type External interface {
	// Has reports whether there is a plugin of that name.
	Has(name string) bool
	// Profile makes the plugins of a profile. args is the pluginConfig of each plugin that has one, as JSON.
	Profile(name string, plugins []string, args map[string][]byte) (ExternalProfile, error)
}

// An ExternalProfile has the plugins of one profile.
type ExternalProfile interface {
	// Extends reports whether a plugin has an extension point, by its name in a configuration.
	Extends(plugin, point string) bool
	// Enable tells which plugins run at each extension point, in their order, built-in ones included. It returns the
	// filters and scores, by plugin, and what runs the other points.
	Enable(points map[string][]string) (map[string]framework.Filter, map[string]framework.Score, framework.Extension)
	// Complete has the profile with all its filters and scores.
	Complete(p framework.Profile)
}

// externalSet are the external plugins that a profile names.
type externalSet struct {
	ExternalProfile // nil without any
	names           []string
}

func (x *externalSet) has(name string) bool { return slices.Contains(x.names, name) }

// newExternals makes the external plugins that sets names.
func newExternals(profile string, sets *pluginSets, args []pluginConfig, from External) (*externalSet, error) {
	x := &externalSet{}
	if from == nil {
		return x, nil
	}
	for _, set := range sets.byPoint() {
		for _, r := range set.Enabled {
			if from.Has(r.Name) && !x.has(r.Name) {
				x.names = append(x.names, r.Name)
			}
		}
	}
	if len(x.names) == 0 {
		return x, nil
	}
	slices.Sort(x.names)
	raw := map[string][]byte{}
	for _, a := range args {
		if x.has(a.Name) {
			raw[a.Name] = a.Args.Raw
		}
	}
	var err error
	x.ExternalProfile, err = from.Profile(profile, x.names, raw)
	return x, err
}

// enable adds the external plugins to a profile whose other plugins are set.
func (x *externalSet) enable(p *framework.Profile, sets *pluginSets, all []pluginRef) {
	if x.ExternalProfile == nil {
		return
	}
	points := map[string][]string{}
	for point, set := range sets.byPoint() {
		for _, name := range ordered(set, all) {
			if isOn(set, nil, all, name) && x.extends(name, point) {
				points[point] = append(points[point], name)
			}
		}
	}
	filters, scores, extension := x.Enable(points)
	p.Extension = extension
	builtIn, scored := p.Filters[len(plugins.Mandatory()):], p.Scores
	p.Filters, p.Scores = plugins.Mandatory(), nil
	byName := map[string]framework.Filter{}
	for _, f := range builtIn {
		byName[f.Name()] = f
	}
	for _, name := range ordered(&sets.Filter, all) {
		f := byName[name]
		if x.has(name) {
			f = filters[name]
			delete(filters, name)
		}
		if f != nil {
			p.Filters = append(p.Filters, f)
		}
	}
	for _, name := range x.names { // those at other points alone
		if f := filters[name]; f != nil {
			p.Filters = append(p.Filters, f)
		}
	}
	for _, name := range ordered(&sets.Score, all) {
		if s := scores[name]; s != nil {
			p.Scores = append(p.Scores, framework.WeightedScore{Score: s, Weight: weight(sets, all, name, 1)})
			continue
		}
		if i := slices.IndexFunc(scored, func(s framework.WeightedScore) bool { return s.Name() == name }); i >= 0 {
			p.Scores = append(p.Scores, scored[i])
		}
	}
	x.Complete(*p)
}

// extends reports whether a plugin, built in or not, has an extension point.
func (x *externalSet) extends(name, point string) bool {
	if x.has(name) {
		return x.Extends(name, point)
	}
	return slices.Contains(plugins.Points[name], point)
}

// one checks that exactly one plugin sorts the queue, and that some plugin binds.
func (x *externalSet) one(sets *pluginSets, all []pluginRef) error {
	count := func(set *pluginSet, point string) (n int) {
		for _, name := range ordered(set, all) {
			if isOn(set, nil, all, name) && x.extends(name, point) {
				n++
			}
		}
		return n
	}
	if n := count(&sets.QueueSort, "queueSort"); n != 1 {
		return fmt.Errorf("only one queue sort plugin required, but got %d", n)
	}
	if count(&sets.Bind, "bind") == 0 {
		return fmt.Errorf("at least one bind plugin is needed")
	}
	return nil
}

// HasExtenders reports whether a KubeSchedulerConfiguration has extenders.
func HasExtenders(data []byte) (bool, error) {
	var c struct {
		Extenders []any `json:"extenders"`
	}
	err := yaml.Unmarshal(data, &c)
	return len(c.Extenders) > 0, err
}
