package clients_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
)

// TestTypedClients uses every method of client-go's generated client of every kind, those
// for applied configurations too, in JSON and in protobuf.
func TestTypedClients(t *testing.T) {
	g, ns, _ := quiet(t)
	for _, media := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		config := rest.CopyConfig(g.config)
		config.ContentType = media
		if media != runtime.ContentTypeJSON {
			config.AcceptContentTypes = media + ",application/json"
		}
		set, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		services, err := aggregator.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		_, short, _ := strings.Cut(media, "/")
		for _, k := range kinds(t, g, ns, strings.ToLower(short[:1])+ns[len("clients-"):]) {
			if k.gvr.Group == "apiextensions.k8s.io" {
				continue // its client is not client-go's
			}
			from := reflect.ValueOf(set)
			if k.gvr.Group == "apiregistration.k8s.io" {
				from = reflect.ValueOf(services)
			}
			t.Run(short+"/"+k.gvr.GroupVersion().String()+"."+k.Kind, func(t *testing.T) {
				(&typedLife{T: t, kind: k, client: clientOf(t, from, k, ns)}).run()
			})
		}
	}
}

// clientOf finds the generated client of a kind: set.AppsV1().Deployments(ns).
func clientOf(t *testing.T, set reflect.Value, k kind, ns string) reflect.Value {
	t.Helper()
	group := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(k.gvr.Group, ".k8s.io"), ".", ""))
	if group == "" {
		group = "core"
	}
	if group == "rbacauthorization" || group == "flowcontrolapiserver" {
		group = strings.NewReplacer("authorization", "", "apiserver", "").Replace(group)
	}
	v := method(t, set, group+k.gvr.Version).Call(nil)[0]
	m := method(t, v, k.Name)
	if m.Type().NumIn() == 1 {
		return m.Call([]reflect.Value{reflect.ValueOf(ns)})[0]
	}
	return m.Call(nil)[0]
}

// method finds a method by its name, case-insensitively.
func method(t *testing.T, v reflect.Value, name string) reflect.Value {
	t.Helper()
	for i := range v.NumMethod() {
		if strings.EqualFold(v.Type().Method(i).Name, name) {
			return v.Method(i)
		}
	}
	t.Fatalf("%s has no %s", v.Type(), name)
	return reflect.Value{}
}

// typedLife tests one typed client. All typed clients have the same methods, but no common
// interface.
type typedLife struct {
	*testing.T
	kind
	client reflect.Value
}

// call calls a method with the context before the arguments.
func (l *typedLife) call(name string, args ...any) (metav1.Object, error) {
	l.Helper()
	m := l.client.MethodByName(name)
	in := []reflect.Value{reflect.ValueOf(l.Context())}
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	out := m.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	o, _ := out[0].Interface().(metav1.Object)
	return o, err
}

func (l *typedLife) must(name string, args ...any) metav1.Object {
	l.Helper()
	o, err := l.call(name, args...)
	if err != nil {
		l.Fatalf("%s: %v", name, err)
	}
	if o.GetName() != l.obj.GetName() || o.GetUID() == "" || o.GetResourceVersion() == "" {
		l.Fatalf("%s answered %v", name, o)
	}
	return o
}

// into converts the kind's object to the type of a method's first argument.
func (l *typedLife) into(name string, from map[string]any) any {
	l.Helper()
	p := reflect.New(l.client.MethodByName(name).Type().In(1).Elem())
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, p.Interface())
	}
	if err != nil {
		l.Fatal(err)
	}
	return p.Interface()
}

func (l *typedLife) run() {
	name := l.obj.GetName()
	made := l.must("Create", l.into("Create", l.obj.Object), metav1.CreateOptions{FieldManager: "maker"})
	w := l.client.MethodByName("Watch").Call([]reflect.Value{reflect.ValueOf(l.Context()),
		reflect.ValueOf(metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: made.GetResourceVersion()})})
	if err, _ := w[1].Interface().(error); err != nil {
		l.Fatal(err)
	}
	seen := &following{t: l.T, w: w[0].Interface().(watch.Interface)}
	defer seen.w.Stop()

	l.update(seen)
	for typ, word := range map[types.PatchType]string{types.MergePatchType: "merge", types.StrategicMergePatchType: "strategic"} {
		l.must("Patch", name, typ, []byte(`{"metadata":{"labels":{"clients":"`+word+`"}}}`), metav1.PatchOptions{FieldManager: "patcher"})
		seen.next(watch.Modified, word)
	}
	l.apply(seen)
	l.subresources()
	list := l.client.MethodByName("List").Call([]reflect.Value{reflect.ValueOf(l.Context()), reflect.ValueOf(metav1.ListOptions{LabelSelector: "clients=applied", FieldSelector: "metadata.name=" + name})})
	if items := list[0].Elem().FieldByName("Items"); items.Len() != 1 {
		l.Errorf("listed %d", items.Len())
	}
	if _, err := l.call("Delete", name, metav1.DeleteOptions{}); err != nil {
		l.Errorf("delete: %v", err)
	}
	if o, err := l.call("Get", name, metav1.GetOptions{}); err == nil && (len(o.GetFinalizers()) > 0 || l.Kind == "Namespace") {
		if o.GetDeletionTimestamp() == nil {
			l.Error("held without a time of deletion")
		}
	} else if !apierrors.IsNotFound(err) {
		l.Errorf("after the deletion: %v", err)
	}
}

// update changes a label, again after each conflict with another writer.
func (l *typedLife) update(seen *following) {
	for {
		o := l.must("Get", l.obj.GetName(), metav1.GetOptions{})
		o.SetLabels(map[string]string{"clients": "update"})
		_, err := l.call("Update", o, metav1.UpdateOptions{FieldManager: "maker"})
		if err == nil {
			break
		}
		if !apierrors.IsConflict(err) {
			l.Fatal(err)
		}
	}
	seen.next(watch.Modified, "update")
}

// apply sends an applied configuration of the kind's own type, with the whole
// object in it.
func (l *typedLife) apply(seen *following) {
	o := l.object()
	o.SetLabels(map[string]string{"clients": "applied"})
	if l.Kind == "Secret" { // the server moves stringData to data
		delete(o.Object, "stringData")
	}
	l.must("Apply", l.into("Apply", o.Object), metav1.ApplyOptions{FieldManager: "applier", Force: true})
	seen.next(watch.Modified, "applied")
	applied := l.must("Get", l.obj.GetName(), metav1.GetOptions{})
	for _, m := range applied.GetManagedFields() {
		if m.Manager == "applier" && m.Operation == metav1.ManagedFieldsOperationApply {
			return
		}
	}
	l.Errorf("managers %v", applied.GetManagedFields())
}

// subresources uses the methods for status and scale that the kind has.
func (l *typedLife) subresources() {
	if l.subresource["status"] && l.Kind != "Namespace" {
		o := l.must("Get", l.obj.GetName(), metav1.GetOptions{})
		o.SetAnnotations(map[string]string{"clients": "status"})
		before := o.GetGeneration()
		if o, err := l.call("UpdateStatus", o, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
			l.Errorf("updatestatus: %v", err)
		} else if err == nil && o.GetGeneration() != before {
			l.Errorf("generation %d after a status, was %d", o.GetGeneration(), before)
		}
		o = l.must("ApplyStatus", l.into("ApplyStatus", map[string]any{
			"apiVersion": l.obj.GetAPIVersion(), "kind": l.Kind, "metadata": map[string]any{"name": l.obj.GetName(), "namespace": l.obj.GetNamespace()},
		}), metav1.ApplyOptions{FieldManager: "status"})
		if o.GetLabels()["clients"] != "applied" {
			l.Errorf("labels %v after an applied status", o.GetLabels())
		}
	}
	if l.subresource["scale"] {
		s := l.must("GetScale", l.obj.GetName(), metav1.GetOptions{})
		l.must("UpdateScale", l.obj.GetName(), s, metav1.UpdateOptions{})
	}
}
