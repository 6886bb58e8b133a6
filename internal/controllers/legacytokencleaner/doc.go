// Package legacytokencleaner deletes the Secrets with tokens that old versions of Kubernetes made for each service account,
// when they have not been used for a year.
//
// The API server labels a Secret with the date of its token's last use, and the ConfigMap
// kube-apiserver-legacy-service-account-token-tracking in kube-system has the date since which it does. A Secret is
// unused if it is older than a year, is tracked for a year, was not used in the last year, and no pod
// of its namespace uses it. It gets the label kubernetes.io/legacy-token-invalid-since first, with which the API server
// refuses the token, and is deleted if it has that label for a year.
//
// Secrets that no service account lists under its secrets were made by users, and stay.
//
// Each Secret is examined when it changes and once a day.
package legacytokencleaner
