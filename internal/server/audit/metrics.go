package audit

// MetricPrefix begins the names of upstream's counters of events, levels, refused requests and failures of backends, which are
// in the registry of component-base.
const MetricPrefix = "apiserver_audit_"
