package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/server/pressure"
)

// limitMemory sets Go's limit for the value of --memory-limit, or else for that of the cgroup, and returns that limit in bytes;
// 0 without one. A GOMEMLIMIT that is set stays, and the result is the lower of the two.
func limitMemory(value string) (int64, error) {
	limit := pressure.CgroupLimit(os.DirFS("/"))
	if value != "" {
		q, err := resource.ParseQuantity(value)
		if err != nil || q.Sign() < 0 || !q.IsZero() && q.Value() < leastMemory {
			return 0, fmt.Errorf("--memory-limit=%s: want bytes, such as 512Mi, of at least 128Mi, or 0", value)
		}
		limit = q.Value()
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		if set := debug.SetMemoryLimit(-1); set < math.MaxInt64 && (limit == 0 || set < limit) {
			limit = set
		}
	} else if limit > 0 {
		debug.SetMemoryLimit(limit - max(limit/10, notGo))
	}
	return limit, nil
}

const (
	// notGo is the memory of the program's code, and other memory that Go's limit does not count.
	notGo = 48 << 20
	// leastMemory is the lowest limit: an empty server takes more than half of it.
	leastMemory = 128 << 20
)
