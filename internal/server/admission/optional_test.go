package admission_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/config"
)

// TestMergedTolerations merges the tolerations of a pod with the defaults of its namespace.
func TestMergedTolerations(t *testing.T) {
	parse := func(text string) (list []corev1.Toleration) { // "key=value:Effect@seconds", "key" alone exists
		for one := range strings.FieldsSeq(text) {
			one, seconds, timed := strings.Cut(one, "@")
			one, effect, _ := strings.Cut(one, ":")
			key, value, equal := strings.Cut(one, "=")
			tol := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
			if equal {
				tol.Operator, tol.Value = corev1.TolerationOpEqual, value
			}
			if timed {
				tol.TolerationSeconds = ptr.To(int64(len(seconds)))
			}
			list = append(list, tol)
		}
		return list
	}
	for _, c := range []struct{ name, pod, defaults, want string }{
		{"different ones", "a=1:NoSchedule", "b=1:NoSchedule", "a=1:NoSchedule b=1:NoSchedule"},
		{"equal ones", "a=1:NoSchedule", "a=1:NoSchedule", "a=1:NoSchedule"},
		{"a wider default", "a=1:NoSchedule", "a:NoSchedule", "a:NoSchedule"},
		{"a wider one of the pod", "a", "a=1:NoSchedule", "a"},
		{"all keys", "a=1:NoSchedule b=2", ":", ":"},
		{"other values", "a=1:NoSchedule", "a=2:NoSchedule", "a=1:NoSchedule a=2:NoSchedule"},
		{"a shorter time", "a:NoExecute@s", "a:NoExecute@sss", "a:NoExecute@sss"},
		{"no end", "a:NoExecute", "a:NoExecute@sss", "a:NoExecute"},
	} {
		w := newWorld()
		p := admission.PodTolerationRestriction{Lookup: w, Cluster: config.Tolerations{Default: parse(c.defaults)}}
		obj := pod(func(p *corev1.Pod) { p.Spec.Tolerations = parse(c.pod) })
		if err := admit(t, p, request(admission.Create, "pods", "shop", "p", obj, nil)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.EqualFunc(obj.Spec.Tolerations, parse(c.want), func(a, b corev1.Toleration) bool { return a.String() == b.String() }) {
			t.Errorf("%s: %v, want %v", c.name, obj.Spec.Tolerations, parse(c.want))
		}
	}
}

// TestUpdatesOfOptionalPlugins: updates keep what was there before.
func TestUpdatesOfOptionalPlugins(t *testing.T) {
	never := func(images ...string) *corev1.Pod {
		return pod(func(p *corev1.Pod) {
			p.Spec.Containers, p.Spec.InitContainers = nil, nil
			for _, image := range images {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: image, Image: image, ImagePullPolicy: corev1.PullNever})
			}
		})
	}
	for _, c := range []struct {
		name     string
		now, was *corev1.Pod
		want     corev1.PullPolicy
	}{
		{"the same images", never("a", "b"), never("b", "a"), corev1.PullNever},
		{"a new image", never("a", "c"), never("a", "b"), corev1.PullAlways},
	} {
		if err := admit(t, admission.AlwaysPullImages{}, request(admission.Update, "pods", "shop", "p", c.now, c.was)); err != nil || c.now.Spec.Containers[0].ImagePullPolicy != c.want {
			t.Errorf("%s: %v %v", c.name, err, c.now.Spec.Containers)
		}
	}
	changed := request(admission.Create, "pods", "shop", "p", never("a"), nil)
	if err := (admission.AlwaysPullImages{}).Validate(context.Background(), changed); err == nil ||
		err.Error() != `pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "Never": supported values: "Always"` {
		t.Errorf("a policy that a webhook has changed: %v", err)
	}
	service := func(ips ...string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{ExternalIPs: ips}}
	}
	for _, c := range []struct {
		now, was []string
		allowed  bool
	}{{nil, []string{"192.0.2.1"}, true}, {[]string{"192.0.2.1"}, []string{"192.0.2.1", "192.0.2.2"}, true}, {[]string{"192.0.2.3"}, []string{"192.0.2.1"}, false}} {
		err := admit(t, admission.DenyServiceExternalIPs{}, request(admission.Update, "services", "shop", "s", service(c.now...), service(c.was...)))
		if (err == nil) != c.allowed {
			t.Errorf("from %v to %v: %v", c.was, c.now, err)
		}
	}
}
