// Package tokencleaner deletes expired bootstrap tokens: Secrets of the type bootstrap.kubernetes.io/token in kube-system
// whose data has an expiration (an RFC 3339 time) in the past, or one that is no time.
package tokencleaner
