package controlplane_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// upstreamChecks are the checks of kube-apiserver 1.36.3, without those of parts that this
// server does not have: peer endpoints, and a loopback
// certificate. The prefix "readyz " marks checks of /readyz alone.
const upstreamChecks = `ping
log
etcd
readyz etcd-readiness
readyz informer-sync
poststarthook/start-apiserver-admission-initializer
poststarthook/generic-apiserver-start-informers
poststarthook/priority-and-fairness-config-consumer
poststarthook/priority-and-fairness-filter
poststarthook/storage-object-count-tracker-hook
poststarthook/start-apiextensions-informers
poststarthook/start-apiextensions-controllers
poststarthook/crd-informer-synced
poststarthook/start-system-namespaces-controller
poststarthook/start-cluster-authentication-info-controller
poststarthook/start-kube-apiserver-identity-lease-controller
poststarthook/start-kube-apiserver-identity-lease-garbage-collector
poststarthook/storage-readiness
poststarthook/start-legacy-token-tracking-controller
poststarthook/start-service-ip-repair-controllers
poststarthook/rbac/bootstrap-roles
poststarthook/scheduling/bootstrap-system-priority-classes
poststarthook/priority-and-fairness-config-producer
poststarthook/bootstrap-controller
poststarthook/start-kubernetes-service-cidr-controller
poststarthook/start-kube-aggregator-informers
poststarthook/apiservice-status-local-available-controller
poststarthook/apiservice-status-remote-available-controller
poststarthook/apiservice-registration-controller
poststarthook/apiservice-discovery-controller
poststarthook/kube-apiserver-autoregistration
autoregister-completion
poststarthook/apiservice-openapi-controller
poststarthook/apiservice-openapiv3-controller
readyz shutdown`

// TestHealth: the health endpoints list kube-apiserver's checks in its order and format, and
// /metrics/slis counts them.
func TestHealth(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	c := controlplanetest.Clientset(t, cp)
	get := controlplanetest.Getter(t, cp.Config())
	for _, kind := range []string{"livez", "readyz", "healthz"} {
		var names, want []string
		for name := range strings.Lines(upstreamChecks) {
			name, only := strings.CutPrefix(strings.TrimSpace(name), "readyz ")
			if kind == "readyz" || !only {
				names = append(names, name)
				want = append(want, "[+]"+name+" ok\n")
			}
		}
		if code, text := get("/" + kind + "?verbose"); code != 200 || text != strings.Join(want, "")+kind+" check passed\n" {
			t.Errorf("%s: %d\n%s", kind, code, text)
		}
		if code, text := get("/" + kind); code != 200 || text != "ok" {
			t.Errorf("%s in short: %d %s", kind, code, text)
		}
		for _, name := range names {
			if code, text := get("/" + kind + "/" + name); code != 200 || text != "ok" {
				t.Errorf("%s/%s: %d %s", kind, name, code, text)
			}
		}
	}
	if code, _ := get("/livez/informer-sync"); code != 404 {
		t.Errorf("a check of readyz is %d in livez", code)
	}
	_, text := get("/readyz?verbose&exclude=etcd&exclude=nope&exclude=ill")
	if !strings.Contains(text, "[+]etcd excluded: ok\n") || !strings.HasSuffix(text, "warn: some health checks cannot be excluded: no matches for \"ill\",\"nope\"\nreadyz check passed\n") {
		t.Errorf("without etcd:\n%s", text)
	}
	_, text = get("/metrics/slis")
	for _, want := range []string{
		`kubernetes_healthcheck{name="etcd",type="livez"} 1`, `kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 2`,
		`kubernetes_healthcheck{name="shutdown",type="readyz"} 1`, "process_start_time_seconds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}

	statuses := c.CoreV1().ComponentStatuses()
	healthy := func(name string) (corev1.ConditionStatus, string) {
		t.Helper()
		s, err := statuses.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Conditions[0].Status, s.Conditions[0].Message
	}
	list, err := statuses.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 3 || list.Items[2].Name != "etcd-0" || list.Items[2].Conditions[0] != (corev1.ComponentCondition{Type: "Healthy", Status: "True", Message: "ok"}) {
		t.Errorf("component statuses: %v %+v", err, list.Items)
	}
	if is, why := healthy("scheduler"); is != corev1.ConditionFalse || why != "no scheduler runs in this process, and there is no Lease kube-system/kube-scheduler of another" {
		t.Errorf("without a scheduler: %s %s", is, why)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kube-scheduler"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("elsewhere"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: &metav1.MicroTime{Time: time.Now()}}}
	if lease, err = c.CoordinationV1().Leases("kube-system").Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if is, why := healthy("scheduler"); is != corev1.ConditionTrue || why != "ok" {
		t.Errorf("the scheduler of another process: %s %s", is, why)
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Unix(1_600_000_000, 0)}
	if _, err = c.CoordinationV1().Leases("kube-system").Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if is, why := healthy("scheduler"); is != corev1.ConditionFalse || why != "elsewhere has not renewed the Lease kube-system/kube-scheduler since 2020-09-13T12:26:40Z" {
		t.Errorf("a scheduler with an expired lease: %s %s", is, why)
	}
	if _, err := statuses.Get(t.Context(), "nope", metav1.GetOptions{}); !apierrors.IsNotFound(err) || err.Error() != `componentstatus "nope" not found` {
		t.Errorf("an unknown component: %v", err)
	}
}

// TestComponentsOfThisProcess: controllers and scheduler that run here are healthy.
func TestComponentsOfThisProcess(t *testing.T) {
	c := controlplanetest.Clientset(t, controlplanetest.Start(t, controlplane.Options{Controllers: []string{"ttl"}, Scheduler: true}))
	list, err := c.CoreV1().ComponentStatuses().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	unhealthy := slices.DeleteFunc(list.Items, func(s corev1.ComponentStatus) bool { return s.Conditions[0].Status == corev1.ConditionTrue })
	if len(list.Items) != 3 || len(unhealthy) > 0 {
		t.Errorf("unhealthy: %+v", unhealthy)
	}
}
