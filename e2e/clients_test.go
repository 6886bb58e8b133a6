package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// history checks the calls of an informer's handler: an object is added once, updated only
// while it exists and only to newer revisions, and deleted once.
type history struct {
	mu      sync.Mutex
	present map[string]int64
	wrong   []string
	changed chan struct{} // one slot
	t       *testing.T
}

func (h *history) told(what string, o any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = last.Obj
	}
	cm := o.(*corev1.ConfigMap)
	rv := number(h.t, cm.ResourceVersion)
	at, there := h.present[cm.Name]
	if there != (what != "added") || rv < at {
		h.wrong = append(h.wrong, fmt.Sprintf("%s %s at %d, was at %d", what, cm.Name, rv, at))
	}
	if what == "deleted" {
		delete(h.present, cm.Name)
	} else {
		h.present[cm.Name] = rv
	}
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

// TestClientGoInformers: client-go's informers see many random writes as a valid history and
// end with the server's state, with WatchList (their default) and with protobuf.
func TestClientGoInformers(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) { testInformers(t, contentType) })
	}
}

func testInformers(t *testing.T, contentType string) {
	const writers, writes, names = 4, 150, 20
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	config := p.config()
	config.ContentType = contentType
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h := &history{t: t, present: map[string]int64{}, changed: make(chan struct{}, 1)}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { h.told("added", o) },
		UpdateFunc: func(_, o any) { h.told("updated", o) },
		DeleteFunc: func(o any) { h.told("deleted", o) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	var wg sync.WaitGroup
	api := clients.CoreV1().ConfigMaps("default")
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range writes {
				name := fmt.Sprintf("cm-%d", random.IntN(names))
				data := map[string]string{"write": fmt.Sprint(w, "/", i)}
				var err error
				switch random.IntN(4) {
				case 0:
					err = api.Delete(ctx, name, metav1.DeleteOptions{})
				case 1:
					_, err = api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
				case 2:
					_, err = api.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"data":{"patch":"%d"}}`, i), metav1.PatchOptions{})
				case 3:
					err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
						cm, err := api.Get(ctx, name, metav1.GetOptions{})
						if err != nil {
							return err
						}
						cm.Data = data
						_, err = api.Update(ctx, cm, metav1.UpdateOptions{})
						return err
					})
				}
				if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()

	list, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, cm := range list.Items {
		want[cm.Name] = number(t, cm.ResourceVersion)
	}
	equal := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return maps.Equal(h.present, want)
	}
	for !equal() {
		select {
		case <-h.changed:
		case <-ctx.Done():
			t.Fatalf("the informer has %v, the server %v", h.present, want)
		}
	}
	for _, wrong := range h.wrong {
		t.Error(wrong)
	}
	p.stop()
}

// mirror is a typical operator: it keeps a Secret for each labelled ConfigMap, which owns it.
type mirror struct {
	client.Client
}

func (m *mirror) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := m.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, m.Client, secret, func() error {
		secret.Data = map[string][]byte{}
		for k, v := range cm.Data {
			secret.Data[k] = []byte(v)
		}
		return controllerutil.SetControllerReference(&cm, secret, m.Scheme())
	})
	return ctrl.Result{}, err
}

// TestControllerRuntime runs a controller-runtime manager unchanged: caches, reconciles,
// owner references that our garbage collector follows, and conflicts.
func TestControllerRuntime(t *testing.T) {
	log.SetLogger(logr.Discard())
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0")
	mgr, err := ctrl.NewManager(p.config(), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(&mirror{mgr.GetClient()}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("manager:", err)
		}
	}()

	c, err := client.NewWithWatch(p.config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := c.Watch(ctx, &corev1.SecretList{}, client.InNamespace("default"))
	if err != nil {
		t.Fatal(err)
	}
	defer secrets.Stop()
	// next reads up to an event of the Secret for which wanted returns true.
	next := func(what string, wanted func(e string, s *corev1.Secret) bool) {
		t.Helper()
		for {
			select {
			case e := <-secrets.ResultChan():
				if s, ok := e.Object.(*corev1.Secret); ok && wanted(string(e.Type), s) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("waiting for %s: %v", what, ctx.Err())
			}
		}
	}

	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}, Data: map[string]string{"a": "1"}}
	if err := c.Create(ctx, cm); err != nil {
		t.Fatal(err)
	}
	next("the mirror", func(e string, s *corev1.Secret) bool { return e == "ADDED" && string(s.Data["a"]) == "1" })

	stale := cm.DeepCopy()
	cm.Data["a"] = "2"
	if err := c.Update(ctx, cm); err != nil {
		t.Fatal(err)
	}
	next("the update", func(e string, s *corev1.Secret) bool { return e == "MODIFIED" && string(s.Data["a"]) == "2" })
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("an update with an old resourceVersion: %v", err)
	}

	if err := c.Delete(ctx, cm); err != nil {
		t.Fatal(err)
	}
	next("its collection", func(e string, s *corev1.Secret) bool { return e == "DELETED" })
}
