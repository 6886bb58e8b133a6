package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/internal/server/auth"
)

// Access counts authentications and authorizations, under upstream's names. It is a prometheus.Collector. The methods of a nil
// Access have no effect.
type Access struct {
	// authentications and authorizations are by result, users by category.
	authentications [len(authenticated)]histogram
	authorizations  [len(authorized)]histogram
	users           [len(userCategories)]counter
	certificates    histogram
}

// The results, and the categories of users, in upstream's words.
var (
	authenticated  = [...]string{"success", "failure", "error"}
	authorized     = [...]string{"allowed", "no-opinion", "error", "denied"}
	userCategories = [...]string{"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default", "email_id", "other"}
)

var (
	accessDurations = &scale{unit: float64(time.Second), bounds: []int64{
		1e6, 2e6, 4e6, 8e6, 16e6, 32e6, 64e6, 128e6, 256e6, 512e6, 1024e6, 2048e6, 4096e6, 8192e6, 16384e6,
	}}
	// lifetimes are from half an hour to a year of 360 days, in seconds.
	lifetimes = &scale{unit: 1, bounds: []int64{
		0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000,
	}}

	ofResult = []string{"result"}

	attemptsDesc       = prometheus.NewDesc("authentication_attempts", "Authentications, by result.", ofResult, nil)
	authenticationDesc = prometheus.NewDesc("authentication_duration_seconds", "Time of an authentication, in seconds, by result.", ofResult, nil)
	usersDesc          = prometheus.NewDesc("authenticated_user_requests", "Authenticated requests, by category of the user.", []string{"username"}, nil)
	authorizationsDesc = prometheus.NewDesc("authorization_attempts_total", "Authorizations, by result.", ofResult, nil)
	authorizationDesc  = prometheus.NewDesc("authorization_duration_seconds", "Time of an authorization, in seconds, by result.", ofResult, nil)
	certificatesDesc   = prometheus.NewDesc("apiserver_client_certificate_expiration_seconds", "Time for which the client certificate of a request is still valid, in seconds.", nil, nil)
)

// NewAccess returns an Access without counts.
func NewAccess() *Access {
	a := &Access{certificates: newHistogram(lifetimes)}
	for i := range a.authentications {
		a.authentications[i] = newHistogram(accessDurations)
	}
	for i := range a.authorizations {
		a.authorizations[i] = newHistogram(accessDurations)
	}
	return a
}

// Authenticated counts an authentication that began at start. user is empty if it did not succeed.
func (a *Access) Authenticated(user string, err error, start time.Time) {
	if a == nil {
		return
	}
	result := 0
	switch {
	case err != nil:
		result = 2
	case user == "":
		result = 1
	default:
		a.users[category(user)].Inc()
	}
	a.authentications[result].Observe(int64(time.Since(start)))
}

// category returns the index of a user's category.
func category(user string) int {
	other := len(userCategories) - 1
	for i, name := range userCategories[:other-1] {
		if user == name {
			return i
		}
	}
	if strings.Contains(user, "@") {
		return other - 1
	}
	return other
}

// Certificate counts a request with a client certificate that ends at a time.
func (a *Access) Certificate(end time.Time) {
	if a != nil {
		a.certificates.Observe(int64(time.Until(end).Seconds()))
	}
}

// Authorized counts an authorization that began at start.
func (a *Access) Authorized(d auth.Decision, err error, start time.Time) {
	if a == nil {
		return
	}
	result := 0
	switch {
	case d == auth.Allow:
	case err != nil:
		result = 2
	case d == auth.Deny:
		result = 3
	default:
		result = 1
	}
	a.authorizations[result].Observe(int64(time.Since(start)))
}

// Describe implements prometheus.Collector.
func (a *Access) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{attemptsDesc, authenticationDesc, usersDesc, authorizationsDesc, authorizationDesc, certificatesDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (a *Access) Collect(out chan<- prometheus.Metric) {
	results := func(all []histogram, names []string, total, took *prometheus.Desc) {
		for i := range all {
			var c counted
			if c.add(&all[i]); c.count > 0 {
				out <- prometheus.MustNewConstMetric(total, prometheus.CounterValue, float64(c.count), names[i])
				out <- c.metric(took, names[i])
			}
		}
	}
	results(a.authentications[:], authenticated[:], attemptsDesc, authenticationDesc)
	results(a.authorizations[:], authorized[:], authorizationsDesc, authorizationDesc)
	for i := range a.users {
		if n := a.users[i].Load(); n > 0 {
			out <- prometheus.MustNewConstMetric(usersDesc, prometheus.CounterValue, float64(n), userCategories[i])
		}
	}
	var c counted
	c.add(&a.certificates)
	out <- c.metric(certificatesDesc)
}
