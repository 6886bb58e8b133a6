package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) probes(p *check.Path, c *corev1.Container) {
	if c.LivenessProbe != nil {
		v.probe(p.Child("livenessProbe"), c.LivenessProbe)
		v.one(p.Child("livenessProbe", "successThreshold"), c.LivenessProbe.SuccessThreshold)
	}
	if c.ReadinessProbe != nil {
		at := p.Child("readinessProbe")
		v.probe(at, c.ReadinessProbe)
		if s := c.ReadinessProbe.TerminationGracePeriodSeconds; s != nil {
			v.Invalid(at.Child("terminationGracePeriodSeconds"), s, "must not be set for readinessProbes")
		}
	}
	if c.StartupProbe != nil {
		v.probe(p.Child("startupProbe"), c.StartupProbe)
		v.one(p.Child("startupProbe", "successThreshold"), c.StartupProbe.SuccessThreshold)
	}
}

func (v *validator) one(p *check.Path, n int32) {
	if n != 1 {
		v.Invalid(p, n, "must be 1")
	}
}

func (v *validator) probe(p *check.Path, b *corev1.Probe) {
	v.handler(p, handler{exec: b.Exec, http: b.HTTPGet, tcp: b.TCPSocket, grpc: b.GRPC})
	v.NotNegative(p.Child("initialDelaySeconds"), int64(b.InitialDelaySeconds))
	v.NotNegative(p.Child("timeoutSeconds"), int64(b.TimeoutSeconds))
	v.NotNegative(p.Child("periodSeconds"), int64(b.PeriodSeconds))
	v.NotNegative(p.Child("successThreshold"), int64(b.SuccessThreshold))
	v.NotNegative(p.Child("failureThreshold"), int64(b.FailureThreshold))
	if s := b.TerminationGracePeriodSeconds; s != nil && *s <= 0 {
		v.Invalid(p.Child("terminationGracePeriodSeconds"), *s, "must be greater than 0")
	}
}

func (v *validator) lifecycle(p *check.Path, l *corev1.Lifecycle) {
	if l == nil {
		return
	}
	hook := func(p *check.Path, h *corev1.LifecycleHandler) {
		if h != nil {
			v.handler(p, handler{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep})
		}
	}
	hook(p.Child("postStart"), l.PostStart)
	hook(p.Child("preStop"), l.PreStop)
	if l.StopSignal != nil {
		switch os := v.spec.OS; {
		case os == nil:
			v.Forbidden(p.Child("stopSignal"), "may not be set for containers with empty `spec.os.name`")
		case os.Name == corev1.Windows:
			check.Known(v.Errors, p.Child("stopSignal"), *l.StopSignal, corev1.SIGKILL, corev1.SIGTERM)
		}
	}
}

// handler is the action of a probe or a lifecycle hook.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (v *validator) handler(p *check.Path, h handler) {
	n := 0
	// only returns true for the first of the handler's actions; others are too many.
	only := func(name string, set bool) bool {
		if !set {
			return false
		}
		if n++; n > 1 {
			v.Forbidden(p.Child(name), "may not specify more than 1 handler type")
		}
		return n == 1
	}
	if only("exec", h.exec != nil) && len(h.exec.Command) == 0 {
		v.Required(p.Child("exec", "command"), "")
	}
	if only("httpGet", h.http != nil) {
		v.httpGet(p.Child("httpGet"), h.http)
	}
	if only("tcpSocket", h.tcp != nil) {
		v.PortOrName(p.Child("tcpSocket", "port"), h.tcp.Port)
	}
	if only("grpc", h.grpc != nil) {
		v.PortOrName(p.Child("grpc", "port"), intstr.FromInt32(h.grpc.Port))
	}
	if only("sleep", h.sleep != nil) {
		if grace := v.spec.TerminationGracePeriodSeconds; grace != nil && (h.sleep.Seconds < 0 || h.sleep.Seconds > *grace) {
			v.Invalid(p.Child("sleep"), h.sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))
		}
	}
	if n == 0 {
		v.Required(p, "must specify a handler type")
	}
}

func (v *validator) httpGet(p *check.Path, h *corev1.HTTPGetAction) {
	if h.Path == "" {
		v.Required(p.Child("path"), "")
	}
	v.PortOrName(p.Child("port"), h.Port)
	check.Known(v.Errors, p.Child("scheme"), h.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	for _, header := range h.HTTPHeaders {
		v.Each(p.Child("httpHeaders"), header.Name, validation.IsHTTPHeaderName(header.Name))
	}
}
