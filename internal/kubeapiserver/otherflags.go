package kubeapiserver

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// ignoredFlags cannot change the answer to a request. The reasons are part of the warning.
var ignoredFlags = map[string][]string{
	"the server has its own traces and metrics": {
		"allow-metric-labels", "allow-metric-labels-manifest", "disabled-metrics",
		"show-hidden-metrics-for-version",
	},
	"the log is written to stderr at once": {
		"log-flush-frequency", "log-text-info-buffer-size", "log-text-split-stream",
	},
	"the store and the watch cache have no such setting": {
		"default-watch-cache-size", "delete-collection-workers", "etcd-compaction-interval", "etcd-count-metric-poll-period", "etcd-db-metric-poll-interval",
		"etcd-healthcheck-timeout", "etcd-readycheck-timeout", "lease-reuse-duration-seconds", "storage-initialization-timeout",
		"storage-media-type", "watch-cache", "watch-cache-sizes",
	},
	"connections and shutdown have no such setting": {
		"livez-grace-period", "permit-address-sharing",
		"permit-port-sharing",
	},
	"the server is the only one of its cluster": {
		"apiserver-count", "endpoint-reconciler-type", "peer-advertise-ip", "peer-advertise-port", "peer-ca-file",
	},
	"the server authenticates to other API servers by a certificate of its own": {
		"aggregator-reject-forwarding-redirect", "enable-aggregator-routing", "proxy-client-cert-file", "proxy-client-key-file",
	},
	"connections to kubelets have no such limit":                     {"kubelet-timeout"},
	"kubelets are reached at the ports in the status of their nodes": {"kubelet-port", "kubelet-read-only-port"},
	"it is only used in documents about the server":                  {"enable-logs-handler", "external-hostname"},
}

// ignoredBools are those of ignoredFlags that may stand without a value.
var ignoredBools = []string{
	"aggregator-reject-forwarding-redirect", "enable-aggregator-routing",
	"enable-logs-handler", "log-text-split-stream",
	"permit-address-sharing", "permit-port-sharing", "watch-cache",
}

// fixedFlag is a flag that could change the answer to a request. It is accepted with the values to which the server is fixed.
type fixedFlag struct {
	values []string
	reason string // why others are refused
}

var fixedFlags = map[string]fixedFlag{
	"egress-selector-config-file": {[]string{""}, "the server connects to nodes, webhooks and etcd directly"},
	"service-account-lookup":      {[]string{"true"}, "the server always asks whether a token's objects exist"},
	"storage-backend":             {[]string{"", "etcd3"}, "the store is the embedded one, or etcd by version 3 of its API"},
}

// otherFlag is the value of a flag that has no effect.
type otherFlag struct {
	name   string
	fixed  []string // the accepted values; nil accepts all
	reason string   // why other values have no effect, or are refused
	warn   func(string)
	value  string
}

// Set implements pflag.Value.
func (f *otherFlag) Set(value string) error {
	f.value = value
	switch {
	case f.fixed == nil:
		f.warn(fmt.Sprintf("--%s has no effect: %s", f.name, f.reason))
	case !slices.Contains(f.fixed, value):
		if last := f.fixed[len(f.fixed)-1]; last != "" {
			return fmt.Errorf("not supported: want %s, because %s", last, f.reason)
		}
		return errors.New("not supported: " + f.reason)
	}
	return nil
}

// String implements pflag.Value, also for its zero value.
func (f *otherFlag) String() string {
	if f == nil {
		return ""
	}
	return f.value
}

// Type implements pflag.Value.
func (*otherFlag) Type() string { return "value" }

// isBool reports whether the flag may stand without a value.
func (f *otherFlag) isBool() bool {
	return slices.Contains(ignoredBools, f.name) || slices.Contains(f.fixed, "true") || slices.Contains(f.fixed, "false")
}

// registerOthers registers the flags that have no effect. warn is called for each that is set and ignored.
func registerOthers(set *pflag.FlagSet, warn func(string)) {
	add := func(f *otherFlag, usage string) {
		f.warn = warn
		flag := set.VarPF(f, f.name, "", usage)
		if f.isBool() {
			flag.NoOptDefVal = "true"
		}
	}
	for reason, names := range ignoredFlags {
		for _, name := range names {
			add(&otherFlag{name: name, reason: reason}, "no effect: "+reason)
		}
	}
	for name, fixed := range fixedFlags {
		usage := "not supported"
		if last := fixed.values[len(fixed.values)-1]; last != "" {
			usage = "fixed to " + last
		}
		add(&otherFlag{name: name, fixed: fixed.values, reason: fixed.reason, value: fixed.values[0]}, usage+": "+fixed.reason)
	}
}
