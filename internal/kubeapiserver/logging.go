package kubeapiserver

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// logging has the flags of the log. Without --v the log has warnings and errors only.
type logging struct {
	format    string
	verbosity int
	set       *pflag.FlagSet
}

// register registers the flags.
func (l *logging) register(set *pflag.FlagSet) {
	l.set = set
	set.StringVar(&l.format, "logging-format", "text", "format of the log: text or json")
	set.IntVarP(&l.verbosity, "v", "v", 0, "verbosity of the log: 0 adds information to warnings and errors, 4 each request; without the flag it has neither")
}

// logger returns a log that writes to w.
func (l *logging) logger(w io.Writer) (*slog.Logger, error) {
	if l.verbosity < 0 {
		return nil, fmt.Errorf("--v=%d: want 0 or more", l.verbosity)
	}
	o := &slog.HandlerOptions{Level: slog.LevelWarn}
	if l.set.Changed("v") {
		o.Level = slog.Level(-l.verbosity) // as logr maps the verbosity of a line
	}
	switch l.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		o.ReplaceAttr = asUpstream
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("--logging-format=%s: want text or json", l.format)
}

// asUpstream gives the members of a line the names and forms that they have in the JSON log of Kubernetes' programs: ts in
// milliseconds, the verbosity v in place of the level, and err. Warnings, which that log does not tell apart, keep the level.
func asUpstream(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	if a.Value.Kind() == slog.KindDuration {
		return slog.String(a.Key, a.Value.Duration().String())
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.Float64("ts", float64(a.Value.Time().UnixNano())/float64(time.Millisecond))
	case slog.LevelKey:
		level, ok := a.Value.Any().(slog.Level)
		switch {
		case !ok || level == slog.LevelWarn:
			return a
		case level > slog.LevelWarn:
			return slog.Attr{} // err tells
		}
		return slog.Int("v", int(max(0, -level)))
	case "error", "err":
		return slog.String("err", fmt.Sprint(a.Value.Any()))
	}
	return a
}

// start returns the log of the process: with a flag of the log a new one, which writes to w and in which libraries write, too.
func (l *logging) start(w io.Writer) (*slog.Logger, error) {
	if !l.set.Changed("v") && !l.set.Changed("logging-format") {
		return slog.Default(), nil
	}
	log, err := l.logger(w)
	if err != nil {
		return nil, err
	}
	slog.SetDefault(log)
	var of flag.FlagSet
	klog.InitFlags(&of)
	if err := of.Set("v", strconv.Itoa(l.verbosity)); err != nil {
		return nil, err
	}
	klog.SetLoggerWithOptions(logr.FromSlogHandler(log.Handler()), klog.ContextualLogger(true))
	return log, nil
}
