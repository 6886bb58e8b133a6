package schedulerplugins

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// A Factory makes a plugin for one profile. args is nil if the profile has no pluginConfig for the plugin, and a
// *runtime.Unknown with JSON otherwise; see DecodeInto. With WithScheme, it may be of a type of the scheme.
type Factory = func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error)

// An Option is an option of Command and Run.
type Option func(*options)

type options struct {
	factories map[string]Factory
	scheme    *runtime.Scheme
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

// WithScheme decodes the arguments of plugins by the types of a scheme, as kube-scheduler does by its own: those of the plugin Racks
// are a RacksArgs of kubescheduler.config.k8s.io/v1, with its defaults, converted to the internal version. Without pluginConfig
// they are the defaults. Plugins without such a type get their arguments as without this option.
func WithScheme(s *runtime.Scheme) Option {
	return func(o *options) { o.scheme = s }
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

// typedArgs returns the arguments of a plugin as the type that the scheme has for them; nil if it has none.
func typedArgs(s *runtime.Scheme, plugin string, raw []byte) (runtime.Object, error) {
	kind := configv1.SchemeGroupVersion.WithKind(plugin + "Args")
	if s == nil || !s.Recognizes(kind) {
		return nil, nil
	}
	if raw == nil {
		raw = []byte("{}")
	}
	args, got, err := serializer.NewCodecFactory(s, serializer.EnableStrict).UniversalDecoder().Decode(raw, &kind, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding its args: %w", err)
	}
	if got.GroupKind() != kind.GroupKind() {
		return nil, fmt.Errorf("its args are of type %s, want %s", got.GroupKind(), kind.GroupKind())
	}
	return args, nil
}
