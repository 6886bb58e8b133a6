package fairness

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bounds of histograms, as kube-apiserver's.
var (
	lengthBounds   = []float64{0, 10, 25, 50, 100, 250, 500, 1000}
	durationBounds = []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30}
	watcherBounds  = []float64{0, 1, 10, 100, 1000, 10000}
	widthBounds    = []float64{1, 2, 4, 8, 16, 32, 64, 100}
	demandBounds   = []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6}
	seatBounds     = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}
	trafficBounds  = []float64{0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1}
	requestBounds  = []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1}
)

// family describes a family of metrics by level, and by further labels.
func family(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("apiserver_flowcontrol_"+name, help, append([]string{"priority_level"}, labels...), nil)
}

const ofSchema = "flow_schema"

var (
	rejectedDesc        = family("rejected_requests_total", "Requests refused by their priority level, by reason.", ofSchema, "reason")
	dispatchedDesc      = family("dispatched_requests_total", "Requests that got their seats.", ofSchema)
	waitingDesc         = family("current_inqueue_requests", "Requests that wait in the queues of their priority level.", ofSchema)
	waitingSeatsDesc    = family("current_inqueue_seats", "Seats that waiting requests ask for.", ofSchema)
	executingDesc       = family("current_executing_requests", "Requests that have their seats; watches only until they have sent what they begin with.", ofSchema)
	seatsDesc           = family("current_executing_seats", "Seats in use.", ofSchema)
	noAccommodationDesc = family("request_dispatch_no_accommodation_total", "Attempts to start a request for which too few seats were free.", ofSchema)
	lengthDesc          = family("request_queue_length_after_enqueue", "Length of a queue as the last request in it sees it.", ofSchema)
	waitDesc            = family("request_wait_duration_seconds", "Time in a queue, by whether the request got its seats.", ofSchema, "execute")
	executionDesc       = family("request_execution_seconds", "Time in which a request had its seats.", ofSchema, "type")
	watchersDesc        = family("watch_count_samples", "Watches that may see the event of a write.", ofSchema)
	widthDesc           = family("work_estimated_seats", "Seats that a request asks for.", ofSchema)

	nominalDesc   = family("nominal_limit_seats", "Seats of a priority level by its shares.")
	leastDesc     = family("lower_limit_seats", "Seats of a priority level when it lends all that it may.")
	mostDesc      = family("upper_limit_seats", "Seats of a priority level when it borrows all that it may.")
	limitDesc     = family("current_limit_seats", "Seats of a priority level now.")
	topDesc       = family("demand_seats_high_watermark", "Most seats that a priority level could use at once, in the last adjustment period.")
	averageDesc   = family("demand_seats_average", "Mean of the seats that a priority level could use, in the last adjustment period.")
	deviationDesc = family("demand_seats_stdev", "Standard deviation of the seats that a priority level could use, in the last adjustment period.")
	smoothedDesc  = family("demand_seats_smoothed", "Smoothed demand for seats.")
	targetDesc    = family("target_seats", "Seats in proportion to which the last adjustment divided them.")
	trafficDesc   = prometheus.NewDesc("apiserver_flowcontrol_read_vs_write_current_requests", "Requests as a part of those that may wait, or execute at nominal limits, observed each nanosecond.", []string{"phase", "request_kind"}, nil)
	fairDesc      = prometheus.NewDesc("apiserver_flowcontrol_seat_fair_frac", "Part of its target that each priority level can have.", nil, nil)

	virtualDesc    = family("current_r", "Virtual time at the last change.")
	dispatchDesc   = family("dispatch_r", "Virtual time at the last dispatch.")
	latestDesc     = family("latest_s", "Virtual start of the queue of the last dispatch.")
	startsDesc     = family("next_s_bounds", "Least and greatest virtual start of queues in which requests wait.", "bound")
	discountedDesc = family("next_discounted_s_bounds", "Least and greatest virtual start of queues in which requests wait, less the work in progress.", "bound")

	demandsDesc     = family("demand_seats", "Seats that a priority level could use as a part of its present limit, observed each nanosecond.")
	utilizationDesc = family("priority_level_seat_utilization", "Part of a priority level's seats that is in use, observed each nanosecond.", "phase")
	requestsDesc    = family("priority_level_request_utilization", "Requests of a priority level as a part of their limit, observed each nanosecond.", "phase")
)

// Describe implements prometheus.Collector. It describes nothing, since which families there are depends on the requests.
func (d *Dispatcher) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (d *Dispatcher) Collect(ch chan<- prometheus.Metric) {
	d.mu.Lock()
	t := time.Now()
	d.catchUp(t)
	fair := d.mu.fair
	d.mu.Unlock()
	ch <- prometheus.MustNewConstMetric(fairDesc, prometheus.GaugeValue, fair)
	for _, m := range d.traffic.collect(t) {
		ch <- m
	}
	for _, l := range d.plan.Load().levels {
		l.mu.Lock()
		metrics := l.mu.collect(t)
		l.mu.Unlock()
		for _, m := range metrics {
			ch <- m
		}
	}
}

// collect returns the metrics of a level.
func (l *levelState) collect(t time.Time) (all []prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		all = append(all, prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{l.name}, labels...)...))
	}
	gauge(nominalDesc, float64(l.nominal))
	gauge(leastDesc, float64(l.least))
	gauge(mostDesc, float64(l.most))
	gauge(limitDesc, float64(l.limit))
	gauge(topDesc, l.appetite.top)
	gauge(averageDesc, l.appetite.average)
	gauge(deviationDesc, l.appetite.deviation)
	gauge(smoothedDesc, l.appetite.smoothed)
	gauge(targetDesc, l.appetite.target)
	if l.deck > 0 {
		gauge(virtualDesc, l.virtual)
	}
	if b := l.bounds; b.known {
		gauge(dispatchDesc, b.virtual)
		gauge(latestDesc, b.latest)
		for i, name := range []string{"min", "max"} {
			gauge(startsDesc, b.start[i], name)
			gauge(discountedDesc, b.discounted[i], name)
		}
	}
	all = append(all,
		l.demands.metric(t, demandsDesc, l.name),
		l.utilization.metric(t, utilizationDesc, l.name, "executing"),
		l.runs.metric(t, requestsDesc, l.name, "executing"),
		l.queued.metric(t, requestsDesc, l.name, "waiting"))
	for schema, s := range l.series {
		all = append(all, s.collect(l.name, schema)...)
	}
	return all
}

// collect returns the metrics of a FlowSchema at a level.
func (s *series) collect(level, schema string) (all []prometheus.Metric) {
	add := func(d *prometheus.Desc, kind prometheus.ValueType, v int, labels ...string) {
		all = append(all, prometheus.MustNewConstMetric(d, kind, float64(v), append([]string{level, schema}, labels...)...))
	}
	histogram := func(h *histogram, d *prometheus.Desc, bounds []float64, labels ...string) {
		if m := h.metric(d, bounds, append([]string{level, schema}, labels...)...); m != nil {
			all = append(all, m)
		}
	}
	for i, n := range s.rejected {
		if n > 0 {
			add(rejectedDesc, prometheus.CounterValue, n, reasonNames[i])
		}
	}
	if s.dispatched > 0 {
		add(dispatchedDesc, prometheus.CounterValue, s.dispatched)
	}
	if s.noAccommodation > 0 {
		add(noAccommodationDesc, prometheus.CounterValue, s.noAccommodation)
	}
	if s.lengths.n > 0 { // it has waited
		add(waitingDesc, prometheus.GaugeValue, s.waiting)
		add(waitingSeatsDesc, prometheus.GaugeValue, s.waitingSeats)
	}
	add(executingDesc, prometheus.GaugeValue, s.executing)
	add(seatsDesc, prometheus.GaugeValue, s.seats)
	histogram(&s.lengths, lengthDesc, lengthBounds)
	histogram(&s.watchers, watchersDesc, watcherBounds)
	histogram(&s.widths, widthDesc, widthBounds)
	for i := range s.waited {
		histogram(&s.waited[i], waitDesc, durationBounds, endNames[i])
	}
	histogram(&s.ran, executionDesc, durationBounds, "regular")
	histogram(&s.watched, executionDesc, durationBounds, "watch")
	return all
}
