// Package connect serves the subresources that lead to something else than the store: logs,
// exec, attach and port forwarding of pods, which their kubelets answer, and the proxies of
// pods, services and nodes. Only internal/server/reach dials.
package connect
