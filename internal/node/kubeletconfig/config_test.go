package kubeletconfig_test

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/node/kubeletconfig"
)

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// TestParse: upstream's defaults, and errors for fields that do not act and for values that a kubelet refuses.
func TestParse(t *testing.T) {
	c, err := kubeletconfig.Parse([]byte(head + "evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true"))
	if err != nil {
		t.Fatal(err)
	}
	if c.EvictionHard["memory.available"] != "1Gi" || c.EvictionHard["nodefs.available"] != "10%" || c.EvictionPressureTransitionPeriod.Duration != 5*time.Minute || c.TopologyManagerScope != "container" {
		t.Errorf("%+v", c)
	}
	if kubeletconfig.Default.EvictionHard["memory.available"] != "100Mi" {
		t.Errorf("default: %+v", kubeletconfig.Default)
	}
	if c, err := kubeletconfig.Parse([]byte(head + "evictionHard: {memory.available: 1Gi}")); err != nil || len(c.EvictionHard) != 1 {
		t.Errorf("given thresholds are all: %v, %v", c, err)
	}
	for text, want := range map[string]string{
		"kind: Node":                                               "want apiVersion",
		head + "cgroupDriver: systemd":                             `a field does not act on simulated nodes: error unmarshaling JSON: while decoding JSON: json: unknown field "cgroupDriver"`,
		head + "shutdownGracePeriod: 10ms":                         "must be either zero or otherwise >= 1 sec",
		head + "shutdownGracePeriodCriticalPods: 10s":              "must be <= shutdownGracePeriod",
		head + "maxPods: -1":                                       "must not be negative",
		head + "kubeReserved: {cpu: '-1'}":                         "must not be negative",
		head + "cpuManagerPolicy: dynamic":                         "Unsupported value",
		head + "cpuManagerPolicyOptions: {x: 'true'}":              "Unsupported value",
		head + "topologyManagerPolicy: strict":                     "Unsupported value",
		head + "crashLoopBackOff: {maxContainerRestartPeriod: 1h}": "must be between 1s and 5m0s",
		head + "shutdownGracePeriod: 10s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 1}]": "cannot be specified together",
	} {
		if _, err := kubeletconfig.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
