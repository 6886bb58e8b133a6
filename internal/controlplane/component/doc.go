// Package component serves the HTTPS endpoints of a part of the control plane that runs in a process of its own, as
// kube-scheduler and kube-controller-manager do: /healthz, /livez and /readyz to everyone, and /metrics, /metrics/slis and
// /version to users with the right to get these paths.
//
// Users are those of the API server: a bearer token is checked by a TokenReview, a client certificate by the CA that the
// ConfigMap extension-apiserver-authentication publishes, and rights by SubjectAccessReviews. The component's own user needs
// the rights for these three, which system:kube-scheduler and system:kube-controller-manager have. Answers are kept for
// 10 seconds, as by those programs.
package component
