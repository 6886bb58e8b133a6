package schedulerplugins

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// profile has the plugins of one profile, and runs those at points that filters and scores do not have.
type profile struct {
	*registry
	name     string
	ctx      context.Context
	log      *slog.Logger
	plugins  map[string]*plugin
	order    map[string][]string // the plugins of each point, built-in ones included
	made     scheduler.Profile   // with all filters and scores
	recorder recorder

	// Owned by the goroutine of the scheduling cycle.
	cycle   *cycle
	group   *groupState        // of the attempt for a group in progress
	pending map[types.UID]bool // pods that a plugin lets wait without a penalty
}

var (
	_ scheduler.External        = &registry{}
	_ scheduler.ExternalProfile = &profile{}
	_ scheduler.Extension       = &profile{}
)

// Has reports whether there is a plugin of that name.
func (r *registry) Has(name string) bool { return r.factories[name] != nil }

// Profile makes the plugins of a profile.
func (r *registry) Profile(name string, plugins []string, args map[string][]byte) (scheduler.ExternalProfile, error) {
	p := &profile{
		registry: r, name: name, ctx: r.ctx, log: r.log.With("profile", name), plugins: map[string]*plugin{},
		pending: map[types.UID]bool{}, recorder: r.recorderOf(name),
	}
	for _, of := range plugins {
		arg, err := typedArgs(r.scheme, of, args[of])
		if err != nil {
			return nil, fmt.Errorf("initializing plugin %q: %w", of, err)
		}
		if raw, has := args[of]; has && arg == nil {
			arg = &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}
		}
		var made fwk.Plugin
		if missed := guard(func() { made, err = r.factories[of](r.ctx, arg, &handle{p}) }); missed != nil {
			err = missed
		}
		if err == nil && made == nil {
			err = fmt.Errorf("its factory returned no plugin")
		}
		if err != nil {
			return nil, fmt.Errorf("initializing plugin %q: %w", of, err)
		}
		added := &plugin{profile: p, name: of, plugin: made, on: map[string]bool{}}
		if added.events, err = registrationsOf(r.ctx, made); err != nil {
			return nil, fmt.Errorf("plugin %q: %w", of, err)
		}
		p.plugins[of] = added
		r.all = append(r.all, added)
		if closer, ok := made.(io.Closer); ok {
			r.closers = append(r.closers, closer)
		}
	}
	return p, nil
}

// Extends reports whether a plugin has an extension point.
func (p *profile) Extends(name, point string) bool {
	of := p.plugins[name].plugin
	switch point {
	case "preEnqueue":
		return is[fwk.PreEnqueuePlugin](of)
	case "queueSort":
		return is[fwk.QueueSortPlugin](of)
	case "preFilter":
		return is[fwk.PreFilterPlugin](of)
	case "filter":
		return is[fwk.FilterPlugin](of)
	case "postFilter":
		return is[fwk.PostFilterPlugin](of)
	case "preScore":
		return is[fwk.PreScorePlugin](of)
	case "score":
		return is[fwk.ScorePlugin](of)
	case "reserve":
		return is[fwk.ReservePlugin](of)
	case "permit":
		return is[fwk.PermitPlugin](of)
	case "preBind":
		return is[fwk.PreBindPlugin](of)
	case "bind":
		return is[fwk.BindPlugin](of)
	case "postBind":
		return is[fwk.PostBindPlugin](of)
	case "placementGenerate":
		return is[fwk.PlacementGeneratePlugin](of)
	case "placementScore":
		return is[fwk.PlacementScorePlugin](of)
	case "podGroupPostFilter":
		return is[fwk.PodGroupPostFilterPlugin](of)
	}
	return false
}

func is[T any](of fwk.Plugin) bool {
	_, ok := of.(T)
	return ok
}

// filtering are the points for which a plugin has to be among the filters.
var filtering = []string{"preEnqueue", "preFilter", "filter", "reserve", "permit", "preBind"}

// Enable tells which plugins run at each point.
func (p *profile) Enable(points map[string][]string) (map[string]scheduler.Filter, map[string]scheduler.Score, scheduler.Extension) {
	p.order = points
	filters, scores := map[string]scheduler.Filter{}, map[string]scheduler.Score{}
	for point, names := range points {
		for _, name := range names {
			of := p.plugins[name]
			if of == nil {
				continue
			}
			of.on[point] = true
			switch {
			case slices.Contains(filtering, point):
				filters[name] = of
			case point == "preScore" || point == "score":
				scores[name] = score{of}
			case point == "queueSort":
				p.less = of.less
			case point == "placementGenerate" || point == "placementScore" || point == "podGroupPostFilter":
				p.log.Warn("plugin has an extension point that this scheduler does not have for plugins of other programs", "plugin", name, "point", point)
			}
		}
	}
	return filters, scores, p
}

// Complete has the profile with all its filters and scores.
func (p *profile) Complete(made scheduler.Profile) { p.made = made }
