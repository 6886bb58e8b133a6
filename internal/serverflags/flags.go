package serverflags

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/logflags"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// Flags are the values of the flags, once they are parsed.
type Flags struct {
	overrides      []string // etcd's
	serving        Serving
	authentication authentication
	authorization  authorization
	admission      plugins
	network        network
	emulation      emulation
	apis           cliflag.ConfigurationMap
	limits         limits
	http           httpFlags
	http2          http2
	tokens         accountTokens
	profiling      Profiling
	log            logflags.Flags
}

// Register registers the flags. Some set the options directly, the others when Complete is called. The options hold
// the defaults.
func Register(set *pflag.FlagSet, o *controlplane.Options) *Flags {
	f := &Flags{apis: cliflag.ConfigurationMap{}}
	registerEtcd(set, &o.Etcd, &f.overrides)
	registerEncryption(set, &o.Encryption)
	f.serving.Register(set, &o.Serving)
	registerKubelets(set, &o.Kubelets)
	f.authentication.register(set, &o.Access)
	f.authorization.register(set, &o.Access)
	f.admission.register(set, &o.Admission)
	registerAudit(set, &o.Audit)
	set.StringVar(&o.TracingConfigFile, "tracing-config-file", "", "file with a TracingConfiguration: the OpenTelemetry receiver of spans of requests, and how many are recorded")
	f.network.register(set, o)
	f.emulation.register(set)
	registerElections(set, &o.Elections)
	set.Var(&f.apis, "runtime-config", "API versions to serve or not, such as batch/v1=false or api/beta=true")
	f.limits.register(set)
	f.http.register(set, o)
	f.http2.register(set)
	f.tokens.register(set, o)
	f.profiling.Register(set)
	registerDebugSocket(set, &o.DebugSocket)
	f.log.Register(set)
	set.DurationVar(&o.EventTTL, "event-ttl", time.Hour, "how long events are kept")
	return f
}

// StartLog makes the log of the flags, which writes to w, the process's own.
func (f *Flags) StartLog(w io.Writer) (*slog.Logger, error) { return f.log.Start(w) }

// Complete checks the flags and sets the rest of the options. Its error names the flag at fault.
func (f *Flags) Complete(o *controlplane.Options) (err error) {
	if o.Etcd.Overrides, err = etcdOverrides(f.overrides); err != nil {
		return err
	}
	if err := checkEncryption(&o.Encryption); err != nil {
		return err
	}
	if err := f.serving.Complete(&o.Serving); err != nil {
		return err
	}
	if err := f.authorization.complete(&o.Access); err != nil {
		return err
	}
	if err := f.authentication.complete(&o.Access); err != nil {
		return err
	}
	if err := f.admission.complete(&o.Admission); err != nil {
		return err
	}
	if err := o.Audit.Check(); err != nil {
		return err
	}
	if err := f.network.complete(o); err != nil {
		return err
	}
	if o.API, err = f.emulation.api(); err != nil {
		return err
	}
	if err := checkElections(o.Elections); err != nil {
		return err
	}
	o.CBOR = o.API.Enabled(cborGate)
	o.Debug = f.profiling.Handler(f.log.SetVerbosity)
	f.profiling.serveSocket(&o.DebugSocket, f.log.SetVerbosity)
	if o.API.Later, err = laterAPIs(f.apis, o.API, f.emulation.forwardTyped); err != nil {
		return err
	}
	if o.API.Asked, err = askedAPIs(f.apis, o.API); err != nil {
		return err
	}
	if o.DisabledAPIs, err = disabledAPIs(f.apis, o.API); err != nil {
		return err
	}
	if o.EventTTL <= 0 {
		return fmt.Errorf("--event-ttl=%v: want more than 0", o.EventTTL)
	}
	if err := f.limits.complete(&o.Limits); err != nil {
		return err
	}
	if err := f.http.complete(o); err != nil {
		return err
	}
	if err := f.http2.complete(&o.HTTP); err != nil {
		return err
	}
	return f.tokens.complete(o)
}
