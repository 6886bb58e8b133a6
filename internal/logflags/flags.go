package logflags

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// Flags are the flags of a command.
type Flags struct {
	format    string
	verbosity int
	modules   string
	set       *pflag.FlagSet

	level slog.LevelVar
	log   *slog.Logger
}

// Register registers the flags.
func (f *Flags) Register(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.format, "logging-format", "text", "format of the log: text or json")
	set.IntVarP(&f.verbosity, "v", "v", 0, "verbosity of the log: 0 adds information to warnings and errors, 4 each request; without the flag it has neither")
	set.StringVar(&f.modules, "vmodule", "", "verbosities of single source files, such as scheduler=4,sched*=2; a name is that of the file without .go and may have *, ? and []")
}

// Start makes the log of the flags, which writes to w, the process's own: that of slog and, with one of the flags, of klog.
func (f *Flags) Start(w io.Writer) (*slog.Logger, error) {
	log, err := f.logger(w)
	if err != nil {
		return nil, err
	}
	f.log = log
	slog.SetDefault(log)
	if f.set.Changed("v") || f.set.Changed("logging-format") || f.set.Changed("vmodule") {
		return log, f.tellLibraries(f.verbosity)
	}
	return log, nil
}

// SetVerbosity changes the verbosity to v, as PUT /debug/flags/v does in Kubernetes' programs.
func (f *Flags) SetVerbosity(v uint32) error {
	f.level.Set(levelOf(int(v)))
	return f.tellLibraries(int(v))
}

// levelOf returns the level of a verbosity, as logr maps it.
func levelOf(verbosity int) slog.Level { return slog.Level(-verbosity) }

// logger returns a log that writes to w.
func (f *Flags) logger(w io.Writer) (*slog.Logger, error) {
	if f.verbosity < 0 {
		return nil, fmt.Errorf("--v=%d: want 0 or more", f.verbosity)
	}
	modules, err := parseModules(f.modules)
	if err != nil {
		return nil, fmt.Errorf("--vmodule: %w", err)
	}
	f.level.Set(slog.LevelWarn)
	if f.set.Changed("v") {
		f.level.Set(levelOf(f.verbosity))
	}
	o := &slog.HandlerOptions{Level: &f.level}
	if len(modules) > 0 {
		o.Level = everything
	}
	var h slog.Handler
	switch f.format {
	case "text":
		h = slog.NewTextHandler(w, o)
	case "json":
		o.ReplaceAttr = asUpstream
		h = slog.NewJSONHandler(w, o)
	default:
		return nil, fmt.Errorf("--logging-format=%s: want text or json", f.format)
	}
	if len(modules) > 0 {
		h = &byModule{Handler: h, level: &f.level, files: &files{modules: modules}}
	}
	return slog.New(h), nil
}

// tellLibraries lets the libraries write to the log what klog has up to a verbosity.
func (f *Flags) tellLibraries(verbosity int) error {
	var of flag.FlagSet
	klog.InitFlags(&of)
	if err := of.Set("v", strconv.Itoa(verbosity)); err != nil {
		return err
	}
	if err := of.Set("vmodule", f.modules); err != nil {
		return err
	}
	klog.SetLoggerWithOptions(logr.FromSlogHandler(f.log.Handler()), klog.ContextualLogger(true))
	return nil
}
