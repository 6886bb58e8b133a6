package informer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// servedPod is a pod as a busy cluster has it: about 3.5 KB of JSON.
func servedPod(n, rev int) *corev1.Pod {
	yes, grace := true, int64(30)
	now := metav1.NewTime(time.Unix(1750000000, 0).UTC())
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-7d4b9c6f5-%05d", n), GenerateName: "web-7d4b9c6f5-", Namespace: "default",
			UID:             types.UID(fmt.Sprintf("0b5e8d4e-3c1f-4d8a-9a55-%012d", n)),
			ResourceVersion: fmt.Sprint(rev), CreationTimestamp: now,
			Labels:          map[string]string{"app": "web", "pod-template-hash": "7d4b9c6f5", "tier": "front"},
			Annotations:     map[string]string{"example.com/config-hash": "d41d8cd98f00b204e9800998ecf8427e"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d4b9c6f5", UID: "6f3e8a60-6ee1-4d8e-8e64-1d1c3f6f2c11", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &now, FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"6f3e8a60\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:env":{".":{}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{}}}`)}},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", n%100), RestartPolicy: "Always", DNSPolicy: "ClusterFirst", SchedulerName: "default-scheduler",
			ServiceAccountName: "default", TerminationGracePeriodSeconds: &grace, EnableServiceLinks: &yes,
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/shop/web:1.27.3", ImagePullPolicy: "IfNotPresent",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
				Env:   []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LOG", Value: "info"}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("256Mi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-x7k2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
			}},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
				{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &grace},
			},
		},
		Status: corev1.PodStatus{
			Phase: "Running", HostIP: "10.0.0.7", PodIP: "10.244.1.17", PodIPs: []corev1.PodIP{{IP: "10.244.1.17"}}, StartTime: &now, QOSClass: "Burstable",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, Started: &yes, Image: "registry.example.com/shop/web:1.27.3",
				ImageID:     "registry.example.com/shop/web@sha256:4c1c50d0ffc614f90b93b07d778028dc765548e823f676fb027f61d281ac380d",
				ContainerID: "containerd://e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
				State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}},
		},
	}
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: "True", LastTransitionTime: now})
	}
	return p
}

// tape is a server in memory that replays prepared frames. It costs almost no CPU, so a
// benchmark measures the informer.
type tape struct {
	proto   bool
	initial []byte
	live    *endless
}

type endless struct {
	frames [][]byte
	left   chan int // how many to play
	n, at  int
	rest   []byte
	ctx    context.Context
}

// Read hands out whole frames as far as they fit, as a connection would.
func (e *endless) Read(b []byte) (n int, err error) {
	for e.n == 0 && len(e.rest) == 0 {
		select {
		case e.n = <-e.left:
		case <-e.ctx.Done():
			return 0, io.EOF
		}
	}
	for n < len(b) && (len(e.rest) > 0 || e.n > 0) {
		if len(e.rest) == 0 {
			e.rest = e.frames[e.at%len(e.frames)]
			e.at++
			e.n--
		}
		c := copy(b[n:], e.rest)
		e.rest = e.rest[c:]
		n += c
	}
	return n, nil
}

func (s *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {client.ContentTypeJSON}}, ContentLength: -1}
	if r.URL.Path == "/api/v1" {
		res.Body = io.NopCloser(strings.NewReader(`{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`))
		return res, nil
	}
	if s.proto {
		res.Header.Set("Content-Type", client.ContentTypeProtobuf+";stream=watch")
	}
	s.live.ctx = r.Context()
	res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(s.initial), s.live))
	return res, nil
}

func (s *tape) frame(typ string, p *corev1.Pod) []byte {
	if !s.proto {
		b, _ := json.Marshal(p)
		return fmt.Appendf(nil, "{\"type\":%q,\"object\":%s}\n", typ, b)
	}
	var obj bytes.Buffer
	if err := protobuf.NewSerializer(client.Scheme, client.Scheme).Encode(p, &obj); err != nil {
		panic(err)
	}
	ev := metav1.WatchEvent{Type: typ, Object: apiruntime.RawExtension{Raw: obj.Bytes()}}
	raw, _ := ev.Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
}

func newTape(pods int, proto bool) *tape {
	s := &tape{proto: proto, live: &endless{left: make(chan int, 1)}}
	for n := range pods {
		s.initial = append(s.initial, s.frame("ADDED", servedPod(n, n+1))...)
	}
	end := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	end.ResourceVersion, end.Annotations = fmt.Sprint(pods), map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	s.initial = append(s.initial, s.frame("BOOKMARK", end)...)
	return s
}

func (s *tape) informer(b testing.TB, hs ...informer.Handler[*corev1.Pod]) *informer.Informer[*corev1.Pod] {
	o := client.Options{}
	if s.proto {
		o.ContentType = client.ContentTypeProtobuf
	}
	c, err := client.New(&rest.Config{Transport: s}, o)
	if err != nil {
		b.Fatal(err)
	}
	i := informer.New(client.For[*corev1.Pod](c).WithoutManagedFields(), informer.Options[*corev1.Pod]{})
	for _, h := range hs {
		i.Handle(h)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { i.Run(ctx); close(done) }()
	b.Cleanup(func() { cancel(); <-done })
	<-i.Synced()
	return i
}

// peer is client-go's informer on the same tape.
func (s *tape) peer(b testing.TB, hs ...func(*corev1.Pod)) cache.SharedIndexInformer {
	cfg := &rest.Config{Transport: s, APIPath: "/api", QPS: -1}
	cfg.GroupVersion = &corev1.SchemeGroupVersion
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(client.Scheme).WithoutConversion()
	if s.proto {
		cfg.ContentType = client.ContentTypeProtobuf
	}
	c, err := rest.RESTClientFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	i := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(c, "pods", "", fields.Everything()), &corev1.Pod{}, 0, cache.Indexers{})
	i.SetTransform(func(obj any) (any, error) {
		obj.(metav1.Object).SetManagedFields(nil)
		return obj, nil
	})
	for _, h := range hs {
		i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) { h(obj.(*corev1.Pod)) }})
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { i.Run(stop); close(done) }()
	b.Cleanup(func() { close(stop); <-done })
	if !cache.WaitForCacheSync(stop, i.HasSynced) {
		b.Fatal("not synced")
	}
	return i
}

// BenchmarkEvents measures an event of a 3 KB pod, from the bytes on the wire to the last
// handler, beside client-go's informer.
func BenchmarkEvents(b *testing.B) {
	for _, enc := range []string{"json", "protobuf"} {
		for _, handlers := range []int{1, 10} {
			for _, who := range []string{"fairlead", "client-go"} {
				b.Run(fmt.Sprintf("%s/handlers=%d/%s", enc, handlers, who), func(b *testing.B) {
					benchEvents(b, enc == "protobuf", handlers, who == "client-go")
				})
			}
		}
	}
}

func benchEvents(b *testing.B, proto bool, handlers int, peer bool) {
	s := newTape(1000, proto)
	for rev := range 2000 { // each differs from the one before it of the same pod
		s.live.frames = append(s.live.frames, s.frame("MODIFIED", servedPod(rev%1000, 1001+rev)))
	}
	var last atomic.Pointer[string] // the revision to wait for
	ended := make(chan struct{}, handlers)
	told := func(p *corev1.Pod) {
		if rev := last.Load(); rev != nil && *rev == p.ResourceVersion {
			ended <- struct{}{}
		}
	}
	if peer {
		s.peer(b, slices.Repeat([]func(*corev1.Pod){told}, handlers)...)
	} else {
		h := informer.Handler[*corev1.Pod]{Update: func(_, p *corev1.Pod) { told(p) }}
		s.informer(b, slices.Repeat([]informer.Handler[*corev1.Pod]{h}, handlers)...)
	}
	b.SetBytes(int64(len(s.live.frames[0])))
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; { // a chunk ends when all handlers are through
		chunk := min(left, len(s.live.frames))
		left -= chunk
		rev := fmt.Sprint(1000 + (s.live.at+chunk-1)%len(s.live.frames) + 1)
		last.Store(&rev)
		s.live.left <- chunk
		for range handlers {
			<-ended
		}
	}
}

// BenchmarkSync measures the first list of 10,000 pods, and the store's memory for them.
func BenchmarkSync(b *testing.B) {
	const pods = 10000
	for _, enc := range []string{"json", "protobuf"} {
		for _, who := range []string{"fairlead", "client-go"} {
			b.Run(enc+"/"+who, func(b *testing.B) {
				s := newTape(pods, enc == "protobuf")
				b.ReportAllocs()
				var kept uint64
				for range b.N {
					b.StopTimer()
					before := heap()
					b.StartTimer()
					var n int
					var keep any
					if who == "client-go" {
						i := s.peer(b)
						n, keep = len(i.GetStore().ListKeys()), i
					} else {
						i := s.informer(b)
						n, keep = i.Store().Len(), i
					}
					b.StopTimer()
					kept = heap() - before
					runtime.KeepAlive(keep)
					if n != pods {
						b.Fatalf("%d pods", n)
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(kept)/pods, "B/pod")
				b.ReportMetric(float64(len(s.initial))/pods, "wire-B/pod")
			})
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkStore is a look-up in a store of 10,000 pods.
func BenchmarkStore(b *testing.B) {
	i := newTape(10000, true).informer(b)
	i.Index("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	name := servedPod(4242, 1).Name
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, ok := i.Store().Get("default", name); !ok {
				b.Fatal("not there")
			}
		}
	})
	b.Run("ByIndex100", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if got := i.Store().ByIndex("node", "node-42"); len(got) != 100 {
				b.Fatal(len(got))
			}
		}
	})
}
