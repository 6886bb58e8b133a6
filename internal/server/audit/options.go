package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/plugin/pkg/audit/buffered"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"
	"k8s.io/apiserver/plugin/pkg/audit/webhook"
)

// The modes of a backend.
const (
	// Batch writes events later, several at once. Events are lost if its buffer is full.
	Batch = "batch"
	// Blocking writes each event before the request goes on. Failures are logged.
	Blocking = "blocking"
	// BlockingStrict is Blocking that also refuses a request whose first event cannot be written.
	BlockingStrict = "blocking-strict"
)

// Modes are the modes of a backend.
var Modes = []string{Batch, Blocking, BlockingStrict}

// Formats are the formats of a log.
var Formats = auditlog.AllowedFormats

// Options configure an Auditor. DefaultOptions returns kube-apiserver's defaults.
type Options struct {
	// PolicyFile has the policy; "" is no audit log.
	PolicyFile string
	Log        Log
	Webhook    Webhook
}

// Delivery configures how a backend gets events.
type Delivery struct {
	Mode string
	// Batch configures the mode Batch.
	Batch buffered.BatchConfig
	// Truncates reports whether Truncate bounds the size of events and batches, in bytes.
	Truncates bool
	Truncate  truncate.Config
	// Version is the group and version of the events.
	Version string
}

// Log configures the log files.
type Log struct {
	// Path is that of the file that is written; "-" is the standard output, and "" is no log.
	Path   string
	Format string
	// MaxAge (in days) and MaxBackups limit the old files that are kept, and MaxSize (in megabytes) the size of a file; 0
	// is no limit.
	MaxAge, MaxBackups, MaxSize int
	// Compress compresses old files with gzip.
	Compress bool
	Delivery Delivery
}

// Webhook configures the server that events are sent to.
type Webhook struct {
	// ConfigFile is a kubeconfig: its cluster is the server, its user authenticates there. "" is no webhook.
	ConfigFile string
	// InitialBackoff is the time before the first of the retries of a batch.
	InitialBackoff time.Duration
	Delivery       Delivery
	// Dial, if not nil, connects to the server in place of the machine's network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// DefaultOptions returns the defaults of kube-apiserver, without a policy or a backend.
func DefaultOptions() Options {
	delivery := func(mode string, b buffered.BatchConfig) Delivery {
		return Delivery{mode, b, false, truncate.Config{MaxBatchSize: 10 << 20, MaxEventSize: 100 << 10}, auditv1.SchemeGroupVersion.String()}
	}
	return Options{
		Log: Log{
			Format: auditlog.FormatJson, MaxAge: 366, MaxBackups: 100, MaxSize: 100,
			Delivery: delivery(Blocking, buffered.BatchConfig{BufferSize: 10000, MaxBatchSize: 1}),
		},
		Webhook: Webhook{
			InitialBackoff: webhook.DefaultInitialBackoffDelay,
			Delivery: delivery(Batch, buffered.BatchConfig{
				BufferSize: 10000, MaxBatchSize: 400, MaxBatchWait: 30 * time.Second,
				ThrottleEnable: true, ThrottleQPS: 10, ThrottleBurst: 15, AsyncDelegate: true,
			}),
		},
	}
}

// Check returns the errors of the options of the backends that are used. They name the flags at fault.
func (o *Options) Check() error {
	var errs []error
	if l := &o.Log; l.Path != "" {
		errs = append(errs, l.Delivery.check(auditlog.PluginName))
		if !slices.Contains(Formats, l.Format) {
			errs = append(errs, fmt.Errorf("--audit-log-format=%s: want %s", l.Format, strings.Join(Formats, " or ")))
		}
		for _, limit := range []struct {
			flag string
			n    int
		}{{"maxage", l.MaxAge}, {"maxbackup", l.MaxBackups}, {"maxsize", l.MaxSize}} {
			if limit.n < 0 {
				errs = append(errs, fmt.Errorf("--audit-log-%s=%d: want 0 or more", limit.flag, limit.n))
			}
		}
	}
	if o.Webhook.ConfigFile != "" {
		errs = append(errs, o.Webhook.Delivery.check(webhook.PluginName))
	}
	return errors.Join(errs...)
}

// check returns the errors of the options of a backend.
func (d *Delivery) check(backend string) error {
	var errs []error
	refuse := func(flag string, value any, want string) {
		errs = append(errs, fmt.Errorf("--audit-%s-%s=%v: want %s", backend, flag, value, want))
	}
	const positive = "a positive number"
	b, t := &d.Batch, &d.Truncate
	switch {
	case !slices.Contains(Modes, d.Mode):
		refuse("mode", d.Mode, strings.Join(Modes, ", "))
	case d.Mode == Batch:
		if b.BufferSize <= 0 {
			refuse("batch-buffer-size", b.BufferSize, positive)
		}
		if b.MaxBatchSize <= 0 {
			refuse("batch-max-size", b.MaxBatchSize, positive)
		}
		if b.ThrottleEnable && b.ThrottleQPS <= 0 {
			refuse("batch-throttle-qps", b.ThrottleQPS, positive)
		}
		if b.ThrottleEnable && b.ThrottleBurst <= 0 {
			refuse("batch-throttle-burst", b.ThrottleBurst, positive)
		}
	}
	if t.MaxEventSize <= 0 {
		refuse("truncate-max-event-size", t.MaxEventSize, positive)
	}
	if t.MaxBatchSize < t.MaxEventSize {
		refuse("truncate-max-batch-size", t.MaxBatchSize, fmt.Sprintf("no less than --audit-%s-truncate-max-event-size=%d", backend, t.MaxEventSize))
	}
	if d.Version != auditv1.SchemeGroupVersion.String() {
		refuse("version", d.Version, auditv1.SchemeGroupVersion.String())
	}
	return errors.Join(errs...)
}

// version returns Version, which check has found valid.
func (d *Delivery) version() schema.GroupVersion {
	gv, err := schema.ParseGroupVersion(d.Version)
	if err != nil {
		panic(err)
	}
	return gv
}

// open opens the log for appending.
func (l *Log) open() (io.Writer, error) {
	if l.Path == "-" {
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil || l.MaxSize == 0 {
		return f, err
	}
	return &lumberjack.Logger{Filename: l.Path, MaxAge: l.MaxAge, MaxBackups: l.MaxBackups, MaxSize: l.MaxSize, Compress: l.Compress}, f.Close()
}
