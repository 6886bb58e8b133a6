package eviction

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/kubeletconfig"
)

// Signal is an amount that a kubelet observes.
type Signal string

// The signals that are observed here.
const (
	Memory            Signal = "memory.available"
	AllocatableMemory Signal = "allocatableMemory.available" // below the limit of all pods
	NodeFS            Signal = "nodefs.available"
	ImageFS           Signal = "imagefs.available"
	PID               Signal = "pid.available"
)

// MaxProcesses is the number of processes that a node can have, as on a Linux machine of 64 bits.
const MaxProcesses = 4194304

// Resources for which there are no names in the API.
const (
	inodes corev1.ResourceName = "inodes"
	pids   corev1.ResourceName = "pids"
)

// signals are all signals that a configuration may name, with the resource that is short and the condition.
var signals = map[Signal]struct {
	resource  corev1.ResourceName
	condition corev1.NodeConditionType
}{
	Memory:                   {corev1.ResourceMemory, corev1.NodeMemoryPressure},
	AllocatableMemory:        {corev1.ResourceMemory, corev1.NodeMemoryPressure},
	NodeFS:                   {corev1.ResourceEphemeralStorage, corev1.NodeDiskPressure},
	ImageFS:                  {corev1.ResourceEphemeralStorage, corev1.NodeDiskPressure},
	"containerfs.available":  {corev1.ResourceEphemeralStorage, corev1.NodeDiskPressure},
	"nodefs.inodesFree":      {inodes, corev1.NodeDiskPressure},
	"imagefs.inodesFree":     {inodes, corev1.NodeDiskPressure},
	"containerfs.inodesFree": {inodes, corev1.NodeDiskPressure},
	PID:                      {pids, corev1.NodePIDPressure},
}

// Resource returns the resource that is short.
func (s Signal) Resource() corev1.ResourceName { return signals[s].resource }

// Threshold is an amount below which a node is under pressure.
type Threshold struct {
	Signal  Signal
	Value   Value
	Grace   time.Duration // how long the amount is below before pods end
	Hard    bool          // pods end at once
	Reclaim Value         // the surplus above Value that ends the pressure
}

// Value is an amount, or a share of the capacity.
type Value struct {
	quantity *resource.Quantity
	share    float64
}

// Of returns the amount for a capacity.
func (v Value) Of(capacity int64) *resource.Quantity {
	if v.quantity != nil {
		return v.quantity
	}
	return resource.NewQuantity(int64(float64(capacity)*v.share), resource.BinarySI)
}

// thresholds reads the thresholds of a configuration, in the order in which a kubelet acts on them: memory first.
func thresholds(c *kubeletconfig.Config) (all []Threshold, err error) {
	read := func(list map[string]string, hard bool) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if list[name] == "0%" || list[name] == "100%" {
				continue // it is switched off
			}
			t := Threshold{Signal: Signal(name), Hard: hard}
			if t.Value, err = parse("eviction threshold", name, list[name], err); err != nil {
				return
			}
			if !hard {
				if t.Grace, err = time.ParseDuration(c.EvictionSoftGracePeriod[name]); err != nil {
					err = fmt.Errorf("grace period must be specified for the soft eviction threshold %v", name)
					return
				}
			}
			if least, ok := c.EvictionMinimumReclaim[name]; ok {
				t.Reclaim, err = parse("eviction minimum reclaim", name, least, err)
			}
			all = append(all, t)
			if t.Signal == Memory && hard {
				t.Signal = AllocatableMemory
				all = append(all, t)
			}
		}
	}
	read(c.EvictionHard, true)
	read(c.EvictionSoft, false)
	for _, list := range []map[string]string{c.EvictionSoftGracePeriod, c.EvictionMinimumReclaim} {
		for name := range list {
			if _, ok := signals[Signal(name)]; !ok && err == nil {
				err = fmt.Errorf("unsupported eviction signal %v", name)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Threshold) int { return cmp.Compare(rankOf(a.Signal), rankOf(b.Signal)) })
	return all, err
}

func rankOf(s Signal) int {
	if s == Memory || s == AllocatableMemory {
		return 0
	}
	return 1
}

// parse reads an amount or a percentage. It returns an earlier error.
func parse(what, signal, text string, err error) (v Value, _ error) {
	if err != nil {
		return v, err
	}
	if _, ok := signals[Signal(signal)]; !ok {
		return v, fmt.Errorf("unsupported eviction signal %v", signal)
	}
	if number, ok := strings.CutSuffix(text, "%"); ok {
		share, err := strconv.ParseFloat(number, 32)
		if err != nil || share <= 0 || share > 100 {
			return v, fmt.Errorf("%s %v: %s: want a percentage of 0%% to 100%%", what, signal, text)
		}
		return Value{share: share / 100}, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() <= 0 {
		return v, fmt.Errorf("%s %v must be positive: %s", what, signal, text)
	}
	return Value{quantity: &q}, nil
}
