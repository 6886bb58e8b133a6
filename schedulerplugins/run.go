package schedulerplugins

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/scheduler"
)

// Run runs the scheduler with plugins against the API server of config until ctx ends, which is no error. configuration is a
// KubeSchedulerConfiguration, in YAML or JSON. A plugin that cannot be made, or one whose extension point this scheduler does
// not have, is an error at once.
func Run(ctx context.Context, config *rest.Config, configuration []byte, opts ...Option) error {
	return run(ctx, config, configuration, controlplane.Apart{}, opts)
}

func run(ctx context.Context, config *rest.Config, configuration []byte, apart controlplane.Apart, opts []Option) error {
	var with options
	with.apply(opts)
	if err := errors.Join(with.errs...); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	r, err := newRegistry(ctx, config, &with)
	if err != nil {
		cancel()
		return err
	}
	defer r.stop()
	defer cancel()
	o, err := r.load(configuration)
	if err != nil {
		return err
	}
	if err := r.start(); err != nil {
		return err
	}
	err = controlplane.RunScheduler(ctx, config, o, apart)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// load makes the plugins that the configuration names.
func (r *registry) load(configuration []byte) (scheduler.Options, error) {
	extenders, err := scheduler.HasExtenders(configuration)
	if err != nil {
		return scheduler.Options{}, err
	}
	r.hasExtenders = extenders
	o, err := scheduler.LoadConfigWith(configuration, r)
	if err != nil {
		return o, err
	}
	o.Attach, o.Less = r.attach, r.less
	return o, nil
}
