package fairness

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The phases and the kinds of requests that traffic tells apart.
const (
	waitingPhase = iota
	executingPhase
	phases
)

const (
	readOnly = iota
	mutating
	kinds
)

var (
	phaseNames = [phases]string{"waiting", "executing"}
	kindNames  = [kinds]string{"readOnly", "mutating"}
)

// traffic observes the requests at all levels together, by phase and kind, as fractions of what the levels take.
type traffic struct {
	// waiting, if not nil, is called when a request begins to wait.
	waiting func()
	mu      struct {
		sync.Mutex
		requests [phases][kinds]int
		limits   [phases]float64
		over     [phases][kinds]ratio
	}
}

func newTraffic(t time.Time, waiting func()) *traffic {
	f := &traffic{waiting: waiting}
	f.mu.limits = [phases]float64{1, 1}
	for phase := range phases {
		for kind := range kinds {
			f.mu.over[phase][kind] = newRatio(trafficBounds, t)
		}
	}
	return f
}

// add notes that n more requests are in a phase, or fewer.
func (f *traffic) add(phase, kind, n int) {
	if f.waiting != nil && phase == waitingPhase && n > 0 {
		f.waiting()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.requests[phase][kind] += n
	f.set(time.Now(), phase, kind)
}

// limit sets the number of requests that may wait, and that of requests that execute at the levels' nominal limits.
func (f *traffic) limit(t time.Time, waiting, executing int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.limits = [phases]float64{float64(max(1, waiting)), float64(max(1, executing))}
	for phase := range phases {
		for kind := range kinds {
			f.set(t, phase, kind)
		}
	}
}

// set observes a number of requests from t on; mu is held.
func (f *traffic) set(t time.Time, phase, kind int) {
	f.mu.over[phase][kind].set(t, float64(f.mu.requests[phase][kind]), f.mu.limits[phase])
}

// collect returns the metrics up to t.
func (f *traffic) collect(t time.Time) (all []prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for phase := range phases {
		for kind := range kinds {
			all = append(all, f.mu.over[phase][kind].metric(t, trafficDesc, phaseNames[phase], kindNames[kind]))
		}
	}
	return all
}
