package controlplane_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// unreadable are stored values that this API server cannot read.
var unreadable = map[string]string{
	"encrypted":      "k8s:enc:secretbox:v1:key1:\x93\x01\x7f",
	"garbage":        "garbage{",
	"empty":          "",
	"cut short":      `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"vic","namespace":"a","uid":"1"},"spec":{"repli`,
	"version":        `{"kind":"Deployment","apiVersion":"apps/v9","metadata":{"name":"vic","namespace":"a","uid":"1"}}`,
	"kind":           `{"kind":"Raft","apiVersion":"apps/v1","metadata":{"name":"vic","namespace":"a","uid":"1"}}`,
	"another kind's": `{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"vic","namespace":"a","uid":"1"}}`,
	"protobuf":       "k8s\x00\n\x00",
}

// rig is a control plane whose store the test can write to.
type rig struct {
	t    *testing.T
	api  kubernetes.Interface
	etcd *clientv3.Client
}

var rigControllers = []string{"deployment", "replicaset", "garbagecollector", "namespace", "resourcequota", "serviceaccount"}

func startRig(t *testing.T, onEtcd bool) *rig {
	t.Helper()
	o := controlplane.Options{
		Controllers: rigControllers, Scheduler: true, Nodes: 1,
	}
	if onEtcd {
		o.Etcd = startEtcd(t)
	} else {
		o.EtcdListen = "127.0.0.1:0"
	}
	cp := controlplanetest.Start(t, o)
	etcd := o.Etcd
	if !onEtcd {
		etcd.Servers = []string{cp.EtcdURL()}
	}
	return &rig{t: t, etcd: etcdClient(t, etcd), api: controlplanetest.Clientset(t, cp)}
}

// etcdClient returns a client of the cluster, with its client certificate if there is one.
func etcdClient(t *testing.T, e controlplane.Etcd) *clientv3.Client {
	t.Helper()
	config := clientv3.Config{Context: t.Context(), DialTimeout: time.Minute, Endpoints: e.Servers}
	if e.CertFile != "" {
		var err error
		if config.TLS, err = (transport.TLSInfo{CertFile: e.CertFile, KeyFile: e.KeyFile, TrustedCAFile: e.CAFile}).ClientConfig(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) put(key, value string) {
	r.t.Helper()
	if _, err := r.etcd.Put(r.t.Context(), key, value); err != nil {
		r.t.Fatal(err)
	}
}

// until waits until done returns true, with patience for a slow machine.
func (r *rig) until(what string, done func(ctx context.Context) bool) {
	r.t.Helper()
	err := wait.PollUntilContextTimeout(r.t.Context(), 20*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		return done(ctx), nil
	})
	if err != nil {
		r.t.Fatalf("waiting for %s: %v", what, err)
	}
}

// deploy makes a namespace with a Deployment of two pods in it, and waits for them.
func (r *rig) deploy(ns string) {
	r.t.Helper()
	if _, err := r.api.CoreV1().Namespaces().Create(r.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.api.AppsV1().Deployments(ns).Create(r.t.Context(), vic(), metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.until("two pods", func(ctx context.Context) bool { return r.pods(ns) == 2 })
}

func vic() *appsv1.Deployment {
	two, labels := int32(2), map[string]string{"app": "vic"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "vic"},
		Spec: appsv1.DeploymentSpec{Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
		}},
	}
}

// pods counts the pods that are not terminating.
func (r *rig) pods(ns string) (n int) {
	r.t.Helper()
	list, err := r.api.CoreV1().Pods(ns).List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

func (r *rig) wantStatus(what string, err error, code int32, reason metav1.StatusReason, words ...string) {
	r.t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		r.t.Errorf("%s: %v, want a status of code %d", what, err, code)
		return
	}
	if s := status.Status(); s.Code != code || s.Reason != reason {
		r.t.Errorf("%s: %d %s %q, want %d %s", what, s.Code, s.Reason, s.Message, code, reason)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			r.t.Errorf("%s: %q does not contain %q", what, err, w)
		}
	}
}

func eachStore(t *testing.T, test func(*testing.T, *rig)) {
	t.Run("embedded", func(t *testing.T) { test(t, startRig(t, false)) })
	t.Run("etcd", func(t *testing.T) { test(t, startRig(t, true)) })
}

// TestUnreadableValueIsPresent replaces a Deployment's stored value by one that cannot be
// read. Every request returns an error about it, the Deployment's dependents are not
// collected, its namespace stays, and only an unsafe deletion removes it.
func TestUnreadableValueIsPresent(t *testing.T) {
	eachStore(t, func(t *testing.T, r *rig) {
		const key = "/registry/deployments/a/vic"
		r.deploy("a")
		r.limit("a", map[corev1.ResourceName]string{"count/deployments.apps": "2"})
		for name, value := range unreadable {
			r.put(key, value)
			r.refused(name)
		}
		r.quotaCounts("a")
		r.collectorLeavesAlone("a")
		r.namespaceStays("a")

		deployments := r.api.AppsV1().Deployments("a")
		yes := true
		unsafely := metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: &yes}
		dry := unsafely
		dry.DryRun = []string{metav1.DryRunAll}
		if err := deployments.Delete(t.Context(), "vic", dry); err != nil {
			t.Errorf("unsafe deletion, dry run: %v", err)
		}
		r.wantStatus("unsafe deletion of what can be read", r.api.CoreV1().Namespaces().Delete(t.Context(), "default", unsafely), http.StatusConflict, metav1.StatusReasonConflict)
		err := deployments.DeleteCollection(t.Context(), unsafely, metav1.ListOptions{})
		r.wantStatus("unsafe deletion of a collection", err, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "is not allowed with DELETECOLLECTION")
		if err := deployments.Delete(t.Context(), "vic", unsafely); err != nil {
			t.Fatalf("unsafe deletion: %v", err)
		}
		r.wantStatus("a second one", deployments.Delete(t.Context(), "vic", unsafely), http.StatusNotFound, metav1.StatusReasonNotFound)
		r.until("the namespace's end", func(ctx context.Context) bool {
			_, err := r.api.CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	})
}

// limit sets the limits of the namespace's quota and waits until its status has them.
func (r *rig) limit(ns string, limits map[corev1.ResourceName]string) *corev1.ResourceQuota {
	r.t.Helper()
	ctx, quotas := r.t.Context(), r.api.CoreV1().ResourceQuotas(ns)
	hard := corev1.ResourceList{}
	for name, limit := range limits {
		hard[name] = resource.MustParse(limit)
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "limit"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if _, err := quotas.Create(ctx, quota, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		_, err = quotas.Update(ctx, quota, metav1.UpdateOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
	} else if err != nil {
		r.t.Fatal(err)
	}
	var counted *corev1.ResourceQuota
	r.until("usage of the quota", func(ctx context.Context) bool {
		var err error
		if counted, err = quotas.Get(ctx, "limit", metav1.GetOptions{}); err != nil {
			r.t.Fatal(err)
		}
		return apiequality.Semantic.DeepEqual(counted.Status.Hard, hard)
	})
	return counted
}

// quotaCounts lowers a quota's limit, so that its controller counts again, and expects the
// unreadable Deployment to be counted: a second one exceeds the quota.
func (r *rig) quotaCounts(ns string) {
	r.t.Helper()
	quota := r.limit(ns, map[corev1.ResourceName]string{"count/deployments.apps": "1"})
	if used := quota.Status.Used["count/deployments.apps"]; used.Value() != 1 {
		r.t.Errorf("the quota counts %s Deployments, want 1", &used)
	}
	second := vic()
	second.Name = "second"
	_, err := r.api.AppsV1().Deployments(ns).Create(r.t.Context(), second, metav1.CreateOptions{})
	r.wantStatus("a second Deployment", err, http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota: limit")
}

// refused sends each kind of request that needs the Deployment's value, and expects an error.
func (r *rig) refused(what string) {
	r.t.Helper()
	ctx, a, all := r.t.Context(), r.api.AppsV1().Deployments("a"), r.api.AppsV1().Deployments("")
	const code, internal, read = http.StatusInternalServerError, metav1.StatusReasonInternalError, metav1.StatusReasonStoreReadError
	_, err := a.Get(ctx, "vic", metav1.GetOptions{})
	r.wantStatus(what+": get", err, code, internal, "corrupt object", "/deployments/a/vic")
	_, err = a.List(ctx, metav1.ListOptions{})
	r.wantStatus(what+": list of the namespace", err, code, read, "failed to read one or more deployments.apps from the storage", "/registry/deployments/a/vic")
	_, err = all.List(ctx, metav1.ListOptions{ResourceVersion: "0", LabelSelector: "no=such"})
	r.wantStatus(what+": list of all", err, code, read)
	_, err = all.List(ctx, metav1.ListOptions{Limit: 1})
	r.wantStatus(what+": page", err, code, read)
	if _, err = r.api.AppsV1().Deployments("default").List(ctx, metav1.ListOptions{}); err != nil {
		r.t.Errorf("%s: list of another namespace: %v", what, err)
	}
	_, err = a.Create(ctx, vic(), metav1.CreateOptions{})
	r.wantStatus(what+": create", err, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	_, err = a.Create(ctx, vic(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	r.wantStatus(what+": create, dry run", err, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	_, err = a.Update(ctx, vic(), metav1.UpdateOptions{})
	updated := metav1.StatusReason("")
	if what == "encrypted" {
		updated = internal
	}
	r.wantStatus(what+": update", err, code, updated, "revision=")
	_, err = a.Patch(ctx, "vic", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	r.wantStatus(what+": patch", err, code, updated, "revision=")
	r.wantStatus(what+": delete", a.Delete(ctx, "vic", metav1.DeleteOptions{}), code, internal, "corrupt object")
	err = a.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	r.wantStatus(what+": deletion of the collection", err, code, read)
	for _, o := range []metav1.ListOptions{{}, {ResourceVersion: "0"}, {ResourceVersion: "1"}} {
		long := int64(60)
		o.TimeoutSeconds = &long
		w, err := all.Watch(ctx, o)
		if err != nil {
			r.t.Errorf("%s: watch: %v", what, err)
			continue
		}
		failed := false
		for ev := range w.ResultChan() {
			failed = failed || ev.Type == watch.Error
			if ev.Type == watch.Deleted {
				r.t.Errorf("%s: the watch saw a deletion: %+v", what, ev.Object)
			}
			if ev.Type == watch.Error {
				if err = apierrors.FromObject(ev.Object); o.ResourceVersion != "1" || !apierrors.IsResourceExpired(err) {
					r.wantStatus(what+": watch", err, code, read)
				}
				break
			}
		}
		w.Stop()
		if !failed {
			r.t.Fatalf("%s: the watch from %q did not fail", what, o.ResourceVersion)
		}
	}
}

// collectorLeavesAlone checks that the garbage collector keeps dependents of the unreadable
// object. It waits until the collector has worked after the value became unreadable.
func (r *rig) collectorLeavesAlone(ns string) {
	r.t.Helper()
	ctx := r.t.Context()
	sets, err := r.api.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		r.t.Fatalf("replica sets: %+v, %v", sets, err)
	}
	owned := func(name string, owner metav1.OwnerReference) {
		_, err := r.api.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name: name, OwnerReferences: []metav1.OwnerReference{owner}}}, metav1.CreateOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	owner := sets.Items[0].OwnerReferences[0]
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	owned("held", owner)
	owned("other-uid", metav1.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: "another"})
	owned("orphan", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "nobody"})
	r.until("the collection of an orphan", func(ctx context.Context) bool {
		_, err := r.api.CoreV1().ConfigMaps(ns).Get(ctx, "orphan", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	for _, name := range []string{"held", "other-uid"} {
		if _, err := r.api.CoreV1().ConfigMaps(ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			r.t.Errorf("config map %s, whose owner cannot be read: %v", name, err)
		}
	}
	if n := r.pods(ns); n != 2 {
		r.t.Errorf("%d pods are left of 2", n)
	}
	if sets, err = r.api.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{}); err != nil || len(sets.Items) != 1 || sets.Items[0].DeletionTimestamp != nil {
		r.t.Errorf("replica sets: %+v, %v", sets, err)
	}
}

// namespaceStays deletes the namespace, which has to wait for the unreadable object.
func (r *rig) namespaceStays(ns string) {
	r.t.Helper()
	if err := r.api.CoreV1().Namespaces().Delete(r.t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.until("the namespace to say what holds it", func(ctx context.Context) bool {
		n, err := r.api.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		if err != nil {
			r.t.Fatalf("the namespace: %v", err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue {
				return strings.Contains(c.Message, "deployments")
			}
		}
		return false
	})
}

// TestReadableAgain makes a value unreadable and repairs it. client-go's informer must not
// see a deletion, and must see the repaired object.
func TestReadableAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, r *rig) {
		const key = "/registry/deployments/a/vic"
		r.deploy("a")
		r.until("a deployment that counts its pods", func(ctx context.Context) bool {
			d, err := r.api.AppsV1().Deployments("a").Get(ctx, "vic", metav1.GetOptions{})
			return err == nil && d.Status.UpdatedReplicas == 2
		})
		factory := informers.NewSharedInformerFactory(r.api, 0)
		informer := factory.Apps().V1().Deployments().Informer()
		events := make(chan string, 100)
		informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { events <- "ADDED" },
			UpdateFunc: func(_, o any) { events <- "MODIFIED " + o.(*appsv1.Deployment).Labels["repaired"] },
			DeleteFunc: func(any) { events <- "DELETED" },
		})
		failed := make(chan struct{}, 100)
		informer.SetWatchErrorHandler(func(*cache.Reflector, error) {
			select {
			case failed <- struct{}{}:
			default:
			}
		})
		factory.Start(t.Context().Done())
		factory.WaitForCacheSync(t.Context().Done())
		if e := <-events; e != "ADDED" {
			t.Fatal(e)
		}
		was, err := r.etcd.Get(t.Context(), key)
		if err != nil || was.Count != 1 {
			t.Fatalf("%+v, %v", was, err)
		}
		r.put(key, unreadable["encrypted"])
		<-failed
		<-failed // it has listed again
		if n := len(informer.GetStore().List()); n != 1 {
			t.Errorf("the informer has %d deployments while one cannot be read", n)
		}
		repaired := strings.Replace(string(was.Kvs[0].Value), `"metadata":{`, `"metadata":{"labels":{"repaired":"yes"},`, 1)
		r.put(key, repaired)
		for e := range events {
			if e == "DELETED" || e == "ADDED" {
				t.Fatalf("the informer saw %s", e)
			}
			if e == "MODIFIED yes" {
				break
			}
		}
		if d, err := r.api.AppsV1().Deployments("a").Get(t.Context(), "vic", metav1.GetOptions{}); err != nil || d.Labels["repaired"] != "yes" {
			t.Errorf("after the repair: %+v, %v", d, err)
		}
	})
}
