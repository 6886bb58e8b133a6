package reach_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/reach"
)

// objects are a server's objects, by resource.
type objects map[string][]runtime.Object

func (all objects) Get(_ context.Context, gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	for _, o := range all[gr.Resource] {
		if m := o.(metav1.Object); m.GetNamespace() == namespace && m.GetName() == name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (all objects) List(_ context.Context, gr schema.GroupResource, namespace string) (list []runtime.Object, err error) {
	for _, o := range all[gr.Resource] {
		if namespace == "" || o.(metav1.Object).GetNamespace() == namespace {
			list = append(list, o)
		}
	}
	return list, nil
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// world returns the Service shop/web, whose endpoints are the pods of the given nodes, each at its address.
func world(endpoints ...string) objects {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: named("shop", "web-1"), Ports: []discoveryv1.EndpointPort{{Port: ptr.To[int32](8443)}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: "web"}
	all := objects{
		"services": {&corev1.Service{ObjectMeta: named("shop", "web"), Spec: corev1.ServiceSpec{ClusterIPs: []string{"10.96.0.9"}, Ports: []corev1.ServicePort{{Port: 443}}}}},
		"nodes": {
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "simulated", Annotations: map[string]string{"fairlead.dev/simulated": "true"}}},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kwok", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}},
		},
		"servicecidrs":   {&networkingv1.ServiceCIDR{ObjectMeta: named("", "kubernetes"), Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.96.0.0/12"}}}},
		"endpointslices": {slice},
	}
	for _, e := range endpoints {
		node, ip, _ := strings.Cut(e, "=")
		pod := &corev1.Pod{ObjectMeta: named("shop", "on-"+node), Spec: corev1.PodSpec{NodeName: node}}
		all["pods"] = append(all["pods"], pod)
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: pod.Name}})
	}
	return all
}

// declaring adds declarations of simulated nodes.
func (all objects) declaring(text string) objects {
	all["configmaps"] = []runtime.Object{&corev1.ConfigMap{ObjectMeta: named("kube-system", "fairlead-simulated-nodes"), Data: map[string]string{"node": text}}}
	return all
}

// TestService checks that a service leads to any of its endpoints that are not simulated.
func TestService(t *testing.T) {
	for name, c := range map[string]struct {
		all  objects
		says string // an address, or part of the error
	}{
		"a real pod":                        {world("real=192.0.2.5"), "192.0.2.5:8443"},
		"a simulated pod":                   {world("simulated=192.0.2.5"), "the endpoint 192.0.2.5:8443 of service shop/web is the simulated pod shop/on-simulated, which serves nothing"},
		"kwok's":                            {world("kwok=192.0.2.5"), "is the simulated pod shop/on-kwok"},
		"real beside simulated":             {world("simulated=192.0.2.5", "kwok=192.0.2.6", "real=192.0.2.7"), "192.0.2.7:8443"},
		"a declared address":                {world("gone=10.128.3.4").declaring("172.18.0.2-172.18.0.9 10.128.0.0/9"), "10.128.3.4:8443 of service shop/web is the simulated pod"},
		"its last":                          {world("gone=10.255.255.255").declaring("10.128.0.0/9"), "is the simulated pod"},
		"a range's last":                    {world("gone=172.18.0.9").declaring("172.18.0.2-172.18.0.9"), "is the simulated pod"},
		"behind the last":                   {world("gone=172.18.0.10").declaring("172.18.0.2-172.18.0.9"), "172.18.0.10:8443"},
		"before the first":                  {world("gone=10.127.255.255").declaring("10.128.0.0/9"), "10.127.255.255:8443"},
		"a declaration that is not legible": {world("real=192.0.2.5").declaring("10.128.0.0/9, 10.0.0.0/8"), "fairlead-simulated-nodes"},
		"nobody":                            {world(), "no endpoints available for service"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // endpoints are chosen at random
				address, err := reach.New(c.all, nil, nil).Service(t.Context(), "shop", "web", 443)
				if err != nil {
					address = err.Error()
				}
				if !strings.Contains(address, c.says) {
					t.Fatalf("got %s\nwant %s", address, c.says)
				}
			}
		})
	}
}

// TestDial checks that simulated addresses are refused, dialed directly or by name, and that others are reached.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := world("simulated=192.0.2.5").declaring("10.128.0.0/9 127.0.0.2-127.0.0.3 ::1/128")
	n := reach.New(all, nil, nil)
	for address, refused := range map[string]bool{
		l.Addr().String():         false,
		"127.0.0.2:1":             true,
		"[::ffff:10.128.0.1]:443": true,
		"10.96.0.9:443":           true,
		"10.111.0.1:443":          true,
	} {
		conn, err := n.Dial(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		var simulated *reach.SimulatedError
		if errors.As(err, &simulated) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	if conn, err := reach.New(all.declaring("127.0.0.0/8 ::1/128"), nil, nil).Dial(t.Context(), "tcp", "localhost:1"); err == nil || !strings.Contains(err.Error(), "belongs to simulated nodes") {
		t.Errorf("a name that resolves to a simulated address: %v, %v", conn, err)
	}
	if _, err := reach.New(nil, nil, nil).Dial(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Error(err)
	}
}

// TestProxied checks that no proxy is asked to forward to a simulated address.
func TestProxied(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	transport := reach.New(objects{}.declaring("10.128.0.0/9"), nil, nil)
	client := transport.Transport(&tls.Config{})
	client.Proxy = transport.Proxied
	_, err := (&http.Client{Transport: client}).Get("https://10.128.0.4/")
	var simulated *reach.SimulatedError
	if !errors.As(err, &simulated) {
		t.Errorf("a proxy is asked: %v", err)
	}
}
