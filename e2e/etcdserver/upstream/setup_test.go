package upstream

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/api/apitesting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/utils/clock"

	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// marker is the prefix of stored values, so that the suite sees them transformed.
const marker = "fairlead!"

var codec = func() runtime.Codec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return apitesting.TestCodec(serializer.NewCodecFactory(scheme), examplev1.SchemeGroupVersion)
}()

// A stand is kube-apiserver's storage of one resource on our endpoint.
type stand struct {
	storage.Interface
	client      *kubernetes.Client
	reads       *storagetesting.KVRecorder
	lists       *storagetesting.KubernetesRecorder
	transformer *exchangeable
	prefix      *storagetesting.PrefixTransformer
	codec       *failing
	estimate    func(storage.KeysFunc) error
}

func newStand(t *testing.T) *stand {
	t.Helper()
	client := newClient(t)
	s := &stand{
		client: client,
		lists:  storagetesting.NewKubernetesRecorder(client.Kubernetes),
		prefix: storagetesting.NewPrefixTransformer([]byte(marker), false),
		codec:  &failing{Codec: codec},
	}
	s.reads = storagetesting.NewKVRecorder(client.KV, s.lists)
	client.KV, client.Kubernetes = s.reads, s.lists
	s.transformer = &exchangeable{}
	s.transformer.set(s.prefix)
	compactor := etcd3.NewCompactor(client.Client, 0, clock.RealClock{}, nil)
	t.Cleanup(compactor.Stop)
	leases := etcd3.NewDefaultLeaseManagerConfig()
	leases.ReuseDurationSeconds = 1 // the suite waits for a lease to end
	versioner := storage.APIObjectVersioner{}
	store, err := etcd3.New(client, compactor, s.codec,
		func() runtime.Object { return &example.Pod{} }, func() runtime.Object { return &example.PodList{} },
		"", "/pods/", schema.GroupResource{Resource: "pods"}, s.transformer, leases,
		etcd3.NewDefaultDecoder(s.codec, versioner), versioner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	s.Interface, s.estimate = store, store.EnableResourceSizeEstimation
	return s
}

// newClient serves an empty store and connects to it as kube-apiserver does.
func newClient(t *testing.T) *kubernetes.Client {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := etcdserver.New(etcdserver.Config{Store: store, ProgressInterval: time.Second})
	var running sync.WaitGroup
	running.Go(func() { server.Serve(l) })
	t.Cleanup(func() { server.Close(); running.Wait() })
	client, err := kubernetes.New(clientv3.Config{
		Endpoints: []string{l.Addr().String()}, DialTimeout: time.Minute, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// UpdatePrefixTransformer implements storagetesting.InterfaceWithPrefixTransformer.
func (s *stand) UpdatePrefixTransformer(change storagetesting.PrefixTransformerModifier) func() {
	changed := *s.prefix
	return s.transformer.set(change(&changed))
}

// UpdateTransformer implements storagetesting.InterfaceWithTransformerOverride.
func (s *stand) UpdateTransformer(change storagetesting.TransformerModifier) func() {
	return s.transformer.set(change(s.transformer.get()))
}

// exchangeable is a transformer that can be exchanged below a store, which keeps the one it was
// made with.
type exchangeable struct {
	mu  sync.RWMutex
	now value.Transformer
}

func (e *exchangeable) get() value.Transformer {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.now
}

func (e *exchangeable) set(to value.Transformer) (back func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.now
	e.now = to
	return func() { e.set(was) }
}

func (e *exchangeable) TransformFromStorage(ctx context.Context, data []byte, about value.Context) ([]byte, bool, error) {
	return e.get().TransformFromStorage(ctx, data, about)
}

func (e *exchangeable) TransformToStorage(ctx context.Context, data []byte, about value.Context) ([]byte, error) {
	return e.get().TransformToStorage(ctx, data, about)
}

// setFailing makes every read of stored bytes fail, or succeed again.
func (e *exchangeable) setFailing(t *testing.T) func(bool) {
	back := func() {}
	return func(on bool) {
		back()
		back = func() {}
		if on {
			back = e.set(broken{e.get(), errors.New("injected")})
		}
	}
}

// broken is a transformer that fails to read any value.
type broken struct {
	value.Transformer
	err error
}

func (b broken) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, b.err
}

// corrupt is the error by which kube-apiserver knows an object that cannot be read.
func corrupt(t *testing.T) error {
	t.Helper()
	_, _, err := etcd3.WithCorruptObjErrorHandlingTransformer(broken{nil, errors.New("flipped bits")}).
		TransformFromStorage(t.Context(), nil, value.DefaultContext{})
	if err == nil {
		t.Fatal("a broken transformer reads")
	}
	return err
}

// failing is a codec that can be made to fail every decoding.
type failing struct {
	runtime.Codec
	mu   sync.RWMutex
	fail bool
}

func (f *failing) setFailing(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = on
}

func (f *failing) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fail {
		return nil, nil, errors.New("injected")
	}
	return f.Codec.Decode(data, defaults, into)
}
