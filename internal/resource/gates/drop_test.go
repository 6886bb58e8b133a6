package gates

import (
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// kinds are the kinds that have, directly or in a pod template, all gated fields.
var kinds = []runtime.Object{
	&corev1.Pod{}, &corev1.Node{}, &corev1.PodTemplate{}, &corev1.ReplicationController{},
	&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{},
	&batchv1.Job{}, &batchv1.CronJob{},
	&resourcev1.ResourceSlice{}, &resourcev1.ResourceClaim{}, &resourcev1.ResourceClaimTemplate{},
}

// TestEveryField checks each field of the table in each place of each kind: it goes on a create and on an
// update of an object without it, and stays on an update of an object with it.
func TestEveryField(t *testing.T) {
	reached := map[gatedField]bool{}
	for _, kind := range kinds {
		drop := Drop(kind)
		if drop == nil {
			t.Fatalf("%T has no gated fields", kind)
		}
		typ := reflect.TypeOf(kind).Elem()
		for _, path := range paths(typ, nil) {
			of := typ
			for _, i := range path[:len(path)-1] {
				of = structOf(of.Field(i).Type)
			}
			name := of.Field(path[len(path)-1]).Name
			reached[gatedField{gateOf(of, name), of, name}] = true
			with := func() (runtime.Object, reflect.Value) {
				v := reflect.New(typ)
				return v.Interface().(runtime.Object), set(v.Elem(), path)
			}
			obj, field := with()
			drop(obj, nil)
			if !field.IsZero() {
				t.Errorf("%T: a create keeps %v.%s", kind, of, name)
			}
			obj, field = with()
			drop(obj, reflect.New(typ).Interface().(runtime.Object))
			if !field.IsZero() {
				t.Errorf("%T: an update of an object without %v.%s keeps it", kind, of, name)
			}
			obj, field = with()
			old, _ := with()
			if drop(obj, old); field.IsZero() {
				t.Errorf("%T: an update of an object with %v.%s drops it", kind, of, name)
			}
		}
	}
	for _, g := range table {
		if !reached[g] {
			t.Errorf("no kind has %v.%s", g.of, g.field)
		}
	}
}

// paths returns the ways from a type to all gated fields below it, as indexes of fields.
func paths(t reflect.Type, seen []reflect.Type) (all [][]int) {
	if t == nil || slices.Contains(seen, t) {
		return nil
	}
	seen = append(slices.Clip(seen), t)
	for i := range t.NumField() {
		if gateOf(t, t.Field(i).Name) != "" {
			all = append(all, []int{i})
			continue
		}
		for _, rest := range paths(structOf(t.Field(i).Type), seen) {
			all = append(all, append([]int{i}, rest...))
		}
	}
	return all
}

// structOf returns the struct of a field that is one, points to one or is a slice of them; else nil.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// set makes v have the field at the end of the path, which it returns. In slices it is in the second element.
func set(v reflect.Value, path []int) reflect.Value {
	f := v.Field(path[0])
	if len(path) == 1 {
		switch f.Kind() {
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		}
		return f
	}
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 2, 2))
		f = f.Index(1)
	}
	return set(f, path[1:])
}

// TestOtherGateInUse checks that a gate in use keeps no field of another gate, and the warning's path.
func TestOtherGateInUse(t *testing.T) {
	pod := func() *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{EvictionResponders: make([]corev1.EvictionResponder, 1)}}
	}
	obj, old := pod(), pod()
	obj.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
	got := Drop(obj)(obj, old)
	if obj.Spec.SchedulingGroup != nil || obj.Spec.EvictionResponders == nil {
		t.Errorf("%+v", obj.Spec)
	}
	if want := "spec.schedulingGroup: dropped, since this server has no PodGroups: the pod is scheduled by itself"; !slices.Equal(got, []string{want}) {
		t.Errorf("warnings %q", got)
	}
	if Drop(&corev1.ConfigMap{}) != nil {
		t.Error("ConfigMap has gated fields")
	}
}

func BenchmarkDrop(b *testing.B) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}}},
			VolumeMounts:  make([]corev1.VolumeMount, 2),
		}},
		Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, {}},
	}}
	drop := Drop(pod)
	b.ReportAllocs()
	for b.Loop() {
		drop(pod, nil)
	}
}
