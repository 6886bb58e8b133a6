package serverflags

import (
	"strings"

	"fairlead.dev/internal/server/audit"
	"github.com/spf13/pflag"
)

func registerAudit(set *pflag.FlagSet, o *audit.Options) {
	*o = audit.DefaultOptions()
	set.StringVar(&o.PolicyFile, "audit-policy-file", "", "file with the audit policy, which says how much of each request is recorded; without it nothing is")

	l := &o.Log
	set.StringVar(&l.Path, "audit-log-path", "", "file to write audit events to; - for the standard output")
	set.StringVar(&l.Format, "audit-log-format", l.Format, "format of the audit log: "+oneOf(audit.Formats))
	set.IntVar(&l.MaxAge, "audit-log-maxage", l.MaxAge, "days to keep old audit log files; 0 for no limit")
	set.IntVar(&l.MaxBackups, "audit-log-maxbackup", l.MaxBackups, "old audit log files to keep; 0 for no limit")
	set.IntVar(&l.MaxSize, "audit-log-maxsize", l.MaxSize, "megabytes of an audit log file before another is begun; 0 for no limit")
	set.BoolVar(&l.Compress, "audit-log-compress", false, "compress old audit log files with gzip")
	registerDelivery(set, "audit-log-", "of the audit log", &l.Delivery)

	w := &o.Webhook
	set.StringVar(&w.ConfigFile, "audit-webhook-config-file", "", "kubeconfig of the webhook to send audit events to")
	const backoff = "audit-webhook-batch-initial-backoff"
	set.DurationVar(&w.InitialBackoff, "audit-webhook-initial-backoff", w.InitialBackoff, "time before the first retry of a failed call of the audit webhook")
	set.DurationVar(&w.InitialBackoff, backoff, w.InitialBackoff, "time before the first retry of a failed call of the audit webhook")
	if err := set.MarkDeprecated(backoff, "use --audit-webhook-initial-backoff"); err != nil {
		panic(err)
	}
	registerDelivery(set, "audit-webhook-", "of the audit webhook", &w.Delivery)
}

func registerDelivery(set *pflag.FlagSet, prefix, of string, d *audit.Delivery) {
	b, t := &d.Batch, &d.Truncate
	set.StringVar(&d.Mode, prefix+"mode", d.Mode, "mode "+of+": "+strings.Join(audit.Modes, ", ")+" (batch writes events later; blocking makes requests wait, and blocking-strict refuses them if their first event cannot be written)")
	set.IntVar(&b.BufferSize, prefix+"batch-buffer-size", b.BufferSize, "events that may wait in a buffer "+of+", in the mode batch")
	set.IntVar(&b.MaxBatchSize, prefix+"batch-max-size", b.MaxBatchSize, "events in a batch "+of+" at most")
	set.DurationVar(&b.MaxBatchWait, prefix+"batch-max-wait", b.MaxBatchWait, "time after which a smaller batch "+of+" is written too")
	set.BoolVar(&b.ThrottleEnable, prefix+"batch-throttle-enable", b.ThrottleEnable, "limit the rate of the batches "+of)
	set.Float32Var(&b.ThrottleQPS, prefix+"batch-throttle-qps", b.ThrottleQPS, "batches per second "+of+", on average")
	set.IntVar(&b.ThrottleBurst, prefix+"batch-throttle-burst", b.ThrottleBurst, "batches "+of+" that may be written at once after a pause")
	set.BoolVar(&d.Truncates, prefix+"truncate-enabled", d.Truncates, "limit the size of events and batches "+of)
	set.Int64Var(&t.MaxBatchSize, prefix+"truncate-max-batch-size", t.MaxBatchSize, "bytes of a batch "+of+" at most; a larger one is split")
	set.Int64Var(&t.MaxEventSize, prefix+"truncate-max-event-size", t.MaxEventSize, "bytes of an event "+of+" at most; a larger one loses its bodies, or is dropped")
	set.StringVar(&d.Version, prefix+"version", d.Version, "group and version of the events "+of)
}
