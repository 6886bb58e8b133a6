package clientsuite

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/badnet"
	"fairlead.dev/testenv"
)

// confined is access to only the config maps of these namespaces.
func confined(t *testing.T, namespaces ...string) *rest.Config {
	t.Helper()
	c := connect(t, nil, client.Options{})
	_, token := account(t, namespaces[0], "confined")
	for _, ns := range namespaces {
		may := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "confined"},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list", "watch"}}}}
		who := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "confined"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "confined"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespaces[0], Name: "confined"}}}
		if _, err := client.For[*rbacv1.Role](c).Namespace(ns).Create(t.Context(), may); err != nil {
			t.Fatal(err)
		}
		if _, err := client.For[*rbacv1.RoleBinding](c).Namespace(ns).Create(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	config := rest.AnonymousClientConfig(target.config)
	config.BearerToken = token
	return config
}

// TestConfined: a user that may read only one namespace, or two, has informers of those.
func TestConfined(t *testing.T) {
	red, blue, other := newNamespace(t), newNamespace(t), newNamespace(t)
	plain := client.For[*corev1.ConfigMap](connect(t, nil, client.Options{}))
	put := func(ns, name string) {
		t.Helper()
		if _, err := plain.Namespace(ns).Create(t.Context(), mapOf(name, map[string]string{"name": name})); err != nil {
			t.Fatal(err)
		}
	}
	for _, ns := range []string{red, blue, other} {
		put(ns, "first")
	}
	config := confined(t, red, blue)
	_, err := client.For[*corev1.ConfigMap](connect(t, config, client.Options{})).List(t.Context())
	refused(t, "a list of all namespaces", err, client.ErrForbidden)

	called := map[string]chan controller.Key{"one": make(chan controller.Key, 100), "two": make(chan controller.Key, 100)}
	m, err := controller.NewManager(config, "suite", controller.ManagerOptions{Namespace: red})
	if err != nil {
		t.Fatal(err)
	}
	loop := func(name string) *controller.Controller {
		return m.New(name, func(_ context.Context, k controller.Key) (controller.Result, error) {
			called[name] <- k
			return controller.Result{}, nil
		}, controller.Options{Workers: 1})
	}
	one, two := loop("one"), loop("two")
	one.Watch(controller.For(informer.For[*corev1.ConfigMap](m.Informers)))
	both := informer.NewNamespaceGroup(client.For[*corev1.ConfigMap](m.Client), informer.Options[*corev1.ConfigMap]{
		Indexes: map[string]func(*corev1.ConfigMap) []string{"name": func(m *corev1.ConfigMap) []string { return []string{m.Labels["name"]} }},
	}, red, blue)
	m.Add(both)
	two.Watch(controller.WatchesGroup(both, func(_ string, m *corev1.ConfigMap) []controller.Key { return controller.Self(m) }))
	p := &process{Manager: m, done: make(chan error, 1)}
	p.run(t)
	defer p.ends(t)
	if err := both.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(red, "second")
	put(blue, "second")
	put(other, "second")
	tells := func(name string, want ...string) {
		t.Helper()
		var got []string
		for range want {
			got = append(got, (<-called[name]).String())
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s was told %v, want %v", name, got, want)
		}
	}
	tells("one", red+"/first", red+"/second")
	want := []string{red + "/first", red + "/second", blue + "/first", blue + "/second"}
	slices.Sort(want)
	tells("two", want...)
	if n, k := len(both.List()), len(both.ByIndex("name", "second")); n != 4 || k != 2 {
		t.Errorf("the stores hold %d, and %d by index, want 4 and 2", n, k)
	}
}

// TestTwoClusters: one controller of two servers, the second of them our own. A server that
// cannot be reached delays only itself, and its events are handled when it can be reached
// again.
func TestTwoClusters(t *testing.T) {
	east, west := newNamespace(t), "default"
	env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
	net, config := network(t)
	config.NextProtos = []string{"http/1.1"}
	plain := map[string]client.Resource[*corev1.ConfigMap]{
		"east": client.For[*corev1.ConfigMap](connect(t, nil, client.Options{})).Namespace(east),
		"west": client.For[*corev1.ConfigMap](env.Client(t)).Namespace(west),
	}
	maps := informer.Group[*corev1.ConfigMap]{
		"east": informer.New(client.For[*corev1.ConfigMap](connect(t, config, client.Options{})).Namespace(east), informer.Options[*corev1.ConfigMap]{}),
		"west": informer.New(client.For[*corev1.ConfigMap](env.Client(t)).Namespace(west), informer.Options[*corev1.ConfigMap]{}),
	}
	called := make(chan controller.Key, 100)
	p := newProcess(t, nil, leader.Candidate{}, 1, func(*process) controller.Reconcile {
		return func(_ context.Context, k controller.Key) (controller.Result, error) {
			called <- k
			return controller.Result{}, nil
		}
	})
	p.Add(maps)
	p.loop.Watch(controller.WatchesGroup(maps, controller.KeysInCluster(controller.Self[*corev1.ConfigMap])))
	p.run(t)
	defer p.ends(t)
	put := func(cluster, name string) {
		t.Helper()
		if _, err := plain[cluster].Create(t.Context(), mapOf(name, nil)); err != nil {
			t.Fatal(err)
		}
	}
	next := func(cluster, name string) {
		t.Helper()
		want := cluster + ":" + map[string]string{"east": east, "west": west}[cluster] + "/" + name
		if got := (<-called).String(); got != want {
			t.Fatalf("called with %s, want %s", got, want)
		}
	}
	for n := range 2 {
		for _, cluster := range []string{"east", "west"} {
			name := fmt.Sprint("m", n)
			put(cluster, name)
			next(cluster, name)
		}
	}
	net.Set(badnet.Conditions{Silent: true})
	put("east", "unheard")
	put("west", "heard")
	next("west", "heard")
	net.Set(badnet.Conditions{})
	next("east", "unheard")
	if n := len(maps.List()); n != 6 {
		t.Errorf("the stores hold %d, want 6", n)
	}
}
