package schedulerplugins

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// A Factory makes a plugin for one profile. args is nil if the profile has no pluginConfig for the plugin, and a
// *runtime.Unknown with JSON otherwise; see DecodeInto.
type Factory = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error)

// An Option is an option of Command and Run.
type Option func(*options)

type options struct {
	factories map[string]Factory
	errs      []error
}

// WithPlugin adds a plugin, which a configuration enables by that name.
func WithPlugin(name string, f Factory) Option {
	return func(o *options) {
		switch {
		case scheduler.IsBuiltIn(name):
			o.errs = append(o.errs, fmt.Errorf("a plugin named %v already exists in this scheduler", name))
		case o.factories[name] != nil:
			o.errs = append(o.errs, fmt.Errorf("a plugin named %v already exists", name))
		}
		o.factories[name] = f
	}
}

func (o *options) apply(opts []Option) {
	o.factories = map[string]Factory{}
	for _, f := range opts {
		f(o)
	}
}

// DecodeInto decodes the arguments of a plugin into a struct, by its JSON tags. Without arguments the struct stays as it is.
func DecodeInto(args runtime.Object, into any) error {
	if args == nil {
		return nil
	}
	raw, ok := args.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("want args of type runtime.Unknown, got %T", args)
	}
	if len(raw.Raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw.Raw, into)
}
