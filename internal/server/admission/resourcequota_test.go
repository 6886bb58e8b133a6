package admission_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/admission"
)

// book stores quotas, and is both their Lookup and their QuotaWriter.
type book struct {
	mu     sync.Mutex
	quotas map[string]*corev1.ResourceQuota
	writes int
	before func() // runs once, before a write
}

func newBook(quotas ...*corev1.ResourceQuota) *book {
	b := &book{quotas: map[string]*corev1.ResourceQuota{}}
	for _, q := range quotas {
		q.ResourceVersion = "1"
		b.quotas[q.Name] = q
	}
	return b
}

func (b *book) Get(_ context.Context, gr schema.GroupResource, _, name string) (runtime.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.quotas[name]; q != nil {
		return q, nil
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (b *book) List(_ context.Context, gr schema.GroupResource, namespace string) (list []runtime.Object, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.quotas {
		if q.Namespace == namespace {
			list = append(list, q)
		}
	}
	return list, nil
}

func (b *book) UpdateStatus(_ context.Context, q *corev1.ResourceQuota) error {
	b.mu.Lock()
	before := b.before
	b.before = nil
	b.mu.Unlock()
	if before != nil {
		before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if have := b.quotas[q.Name]; have == nil {
		return apierrors.NewNotFound(corev1.Resource("resourcequotas"), q.Name)
	} else if have.ResourceVersion != q.ResourceVersion {
		return apierrors.NewConflict(corev1.Resource("resourcequotas"), q.Name, nil)
	}
	q = q.DeepCopy()
	n, _ := strconv.Atoi(q.ResourceVersion)
	q.ResourceVersion = strconv.Itoa(n + 1)
	b.quotas[q.Name] = q
	b.writes++
	return nil
}

// used returns a quota's usage, for the resources that it limits.
func (b *book) used(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var parts []string
	for _, n := range strings.Fields("cpu limits.memory pods requests.cpu requests.storage services services.nodeports count/configmaps count/jobs.batch gold.storageclass.storage.k8s.io/requests.storage") {
		if q, ok := b.quotas[name].Status.Used[corev1.ResourceName(n)]; ok {
			parts = append(parts, n+"="+q.String())
		}
	}
	return strings.Join(parts, " ")
}

func quotaOf(name, hard, used string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u"},
		Spec:       corev1.ResourceQuotaSpec{Hard: list(hard)},
		Status:     corev1.ResourceQuotaStatus{Hard: list(hard), Used: list(used)},
	}
}

func TestQuotaChargesPods(t *testing.T) {
	for _, c := range []struct {
		name       string
		hard, used string
		pod        *corev1.Pod
		want       string // the error, or the usage afterwards
	}{
		{"charged", "pods=3 requests.cpu=2 limits.memory=2Gi", "pods=1 requests.cpu=1 limits.memory=1Gi", podOf("cpu=500m", "memory=512Mi"),
			"limits.memory=1536Mi pods=2 requests.cpu=1500m"},
		{"up to the brim", "cpu=2", "cpu=1", podOf("cpu=1", ""), "cpu=2"},
		{"too many", "pods=1", "pods=1", podOf("", ""), "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
		{"too much of two", "pods=9 cpu=1 limits.memory=1Gi", "pods=1 cpu=500m limits.memory=0", podOf("cpu=1", "memory=1Gi", "cpu=1", "memory=1Gi"),
			"exceeded quota: q, requested: cpu=2,limits.memory=2Gi, used: cpu=500m,limits.memory=0, limited: cpu=1,limits.memory=1Gi"},
		{"it must ask", "cpu=2 limits.memory=1Gi", "cpu=0 limits.memory=0", podOf("", "", "cpu=1", ""),
			"failed quota: q: must specify cpu for: a; limits.memory for: a,b"},
		{"not counted yet", "pods=2 cpu=1", "", podOf("cpu=1", ""), "status unknown for quota: q, resources: cpu,pods"},
		{"another's business", "services=0", "services=0", podOf("", ""), "services=0"},
	} {
		b := newBook(quotaOf("q", c.hard, c.used))
		got := ""
		if err := admit(t, admission.NewResourceQuota(b, b, nil), request(admission.Create, "pods", "shop", "p", c.pod, nil)); err != nil {
			got = strings.TrimPrefix(err.ErrStatus.Message, `pods "p" is forbidden: `)
		} else {
			got = b.used("q")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQuotaScopes(t *testing.T) {
	scoped := func(name string, scope corev1.ResourceQuotaScope, op corev1.ScopeSelectorOperator, values ...string) *corev1.ResourceQuota {
		q := quotaOf(name, "pods=9", "pods=0")
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: scope, Operator: op, Values: values}}}
		return q
	}
	b := newBook(
		scoped("best", corev1.ResourceQuotaScopeBestEffort, corev1.ScopeSelectorOpExists),
		scoped("notbest", corev1.ResourceQuotaScopeNotBestEffort, corev1.ScopeSelectorOpExists),
		scoped("ending", corev1.ResourceQuotaScopeTerminating, corev1.ScopeSelectorOpExists),
		scoped("high", corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpIn, "high"),
		scoped("nothigh", corev1.ResourceQuotaScopePriorityClass, corev1.ScopeSelectorOpNotIn, "high"),
	)
	high, deadline := podOf("cpu=1", ""), podOf("", "")
	high.Spec.PriorityClassName = "high"
	deadline.Spec.ActiveDeadlineSeconds = new(int64)
	for _, p := range []*corev1.Pod{podOf("", ""), high, deadline} {
		if err := admit(t, admission.NewResourceQuota(b, b, nil), request(admission.Create, "pods", "shop", "p", p, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"best": "pods=2", "notbest": "pods=1", "ending": "pods=1", "high": "pods=1", "nothigh": "pods=2"} {
		if got := b.used(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestQuotaOfOtherThings(t *testing.T) {
	b := newBook(quotaOf("q", "services=2 services.nodeports=3 requests.storage=10Gi gold.storageclass.storage.k8s.io/requests.storage=5Gi count/configmaps=1",
		"services=0 services.nodeports=0 requests.storage=0 gold.storageclass.storage.k8s.io/requests.storage=0 count/configmaps=0"))
	p := admission.NewResourceQuota(b, b, nil)
	try := func(verb admission.Verb, plural string, obj, old runtime.Object, want string) {
		t.Helper()
		got := ""
		if err := admit(t, p, request(verb, plural, "shop", "x", obj, old)); err != nil {
			got = strings.TrimPrefix(err.ErrStatus.Message, plural+` "x" is forbidden: `)
		} else {
			got = b.used("q")
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	plain := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Ports: make([]corev1.ServicePort, 2)}}
	open := plain.DeepCopy()
	open.Spec.Type = corev1.ServiceTypeNodePort
	try(admission.Create, "services", plain, nil, "requests.storage=0 services=1 services.nodeports=0 count/configmaps=0 gold.storageclass.storage.k8s.io/requests.storage=0")
	try(admission.Update, "services", open, plain, "requests.storage=0 services=1 services.nodeports=2 count/configmaps=0 gold.storageclass.storage.k8s.io/requests.storage=0")
	try(admission.Create, "services", open, nil, "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3")
	try(admission.Update, "services", plain, open, b.used("q")) // the controller lowers the usage
	try(admission.Create, "configmaps", &corev1.ConfigMap{}, nil, "requests.storage=0 services=1 services.nodeports=2 count/configmaps=1 gold.storageclass.storage.k8s.io/requests.storage=0")
	try(admission.Create, "configmaps", &corev1.ConfigMap{}, nil, "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1")
	gold := "gold"
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &gold}}
	claim.Spec.Resources.Requests = list("storage=3Gi")
	try(admission.Create, "persistentvolumeclaims", claim, nil, "requests.storage=3Gi services=1 services.nodeports=2 count/configmaps=1 gold.storageclass.storage.k8s.io/requests.storage=3Gi")
	larger := claim.DeepCopy()
	larger.Spec.Resources.Requests = list("storage=6Gi")
	try(admission.Update, "persistentvolumeclaims", larger, claim,
		"exceeded quota: q, requested: gold.storageclass.storage.k8s.io/requests.storage=3Gi, used: gold.storageclass.storage.k8s.io/requests.storage=3Gi, limited: gold.storageclass.storage.k8s.io/requests.storage=5Gi")
	try(admission.Create, "secrets", &corev1.Secret{}, nil, b.used("q"))
	try(admission.Create, "events", &corev1.Event{}, nil, b.used("q"))
}

func TestQuotaGivesBackAndTriesAgain(t *testing.T) {
	b := newBook(quotaOf("q", "pods=5", "pods=1"), quotaOf("r", "pods=5", "pods=2"))
	p := admission.NewResourceQuota(b, b, nil)
	r := request(admission.Create, "pods", "shop", "p", podOf("", ""), nil)
	if err := admit(t, p, r); err != nil || b.used("q") != "pods=2" || b.used("r") != "pods=3" {
		t.Fatal(err, b.used("q"), b.used("r"))
	}
	r.Done(false)
	if b.used("q") != "pods=1" || b.used("r") != "pods=2" {
		t.Errorf("after a failed write: %s, %s", b.used("q"), b.used("r"))
	}
	writes := b.writes
	r = request(admission.Create, "pods", "shop", "p", podOf("", ""), nil)
	r.DryRun = true
	if err := admit(t, p, r); err != nil || b.writes != writes {
		t.Error("a dry run charges")
	}
	r.Done(false)

	// Another request takes the last one just before the charge.
	b = newBook(quotaOf("q", "pods=2", "pods=1"))
	b.before = func() {
		q := b.quotas["q"].DeepCopy()
		q.Status.Used = list("pods=2")
		if err := b.UpdateStatus(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	err := admit(t, admission.NewResourceQuota(b, b, nil), request(admission.Create, "pods", "shop", "p", podOf("", ""), nil))
	if err == nil || !strings.Contains(err.Error(), "used: pods=2, limited: pods=2") {
		t.Errorf("the last one twice: %v", err)
	}
	// A quota deleted during the charge does not block the request.
	b = newBook(quotaOf("q", "pods=2", "pods=1"))
	b.before = func() { delete(b.quotas, "q") }
	if err := admit(t, admission.NewResourceQuota(b, b, nil), request(admission.Create, "pods", "shop", "p", podOf("", ""), nil)); err != nil {
		t.Error(err)
	}
}

func TestQuotaUnderLoad(t *testing.T) {
	b := newBook(quotaOf("q", "pods=30", "pods=0"))
	p := admission.NewResourceQuota(b, b, nil)
	var admitted, refused sync.Map
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if err := p.Validate(context.Background(), request(admission.Create, "pods", "shop", "p", podOf("", ""), nil)); err == nil {
				admitted.Store(i, true)
			} else {
				refused.Store(i, true)
			}
		})
	}
	wg.Wait()
	count := func(m *sync.Map) (n int) {
		m.Range(func(any, any) bool { n++; return true })
		return n
	}
	if count(&admitted) != 30 || count(&refused) != 20 || b.used("q") != "pods=30" || b.writes != 30 {
		t.Errorf("%d admitted, %d refused, %s, %d writes", count(&admitted), count(&refused), b.used("q"), b.writes)
	}
}
