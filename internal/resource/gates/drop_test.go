package gates

import (
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// kinds are the kinds that have, directly or in a pod template, all gated fields.
var kinds = []runtime.Object{
	&corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{}, &storagev1.CSIDriver{}, &storagev1.VolumeAttachment{},
	&autoscalingv2.HorizontalPodAutoscaler{}, &discoveryv1.EndpointSlice{}, &resourcev1.DeviceClass{},
	&corev1.Pod{}, &corev1.Node{}, &corev1.PodTemplate{}, &corev1.ReplicationController{},
	&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{},
	&batchv1.Job{}, &batchv1.CronJob{},
	&schedulingv1beta1.PodGroup{}, &schedulingv1beta1.Workload{}, &schedulingv1alpha3.CompositePodGroup{},
	&resourcev1.ResourceSlice{}, &resourcev1.ResourceClaim{}, &resourcev1.ResourceClaimTemplate{},
	&resourcev1alpha3.ResourcePoolStatusRequest{},
}

// allOff has no gate on.
var allOff = newCompiler(func(string) bool { return false })

// dropOf returns the function that drops fields of gates of c in a whole object of the kind; nil if it has no such field.
func dropOf(c *compiler, kind runtime.Object) func(obj, old runtime.Object) []string {
	s := c.of(reflect.TypeOf(kind).Elem())
	if s == nil {
		return nil
	}
	return dropper{s, s}.drop
}

// TestEveryField checks each field of the table in each place of each kind: it goes on a create and on an
// update of an object without it, and stays on an update of an object with it.
func TestEveryField(t *testing.T) {
	reached := map[gatedField]bool{}
	for _, kind := range kinds {
		drop := dropOf(allOff, kind)
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
			reached[gatedField{allOff.gateOf(of, name), of, name}] = true
			with := func() runtime.Object {
				v := reflect.New(typ)
				set(v.Elem(), path)
				return v.Interface().(runtime.Object)
			}
			kept := func(obj runtime.Object) bool { return has(reflect.ValueOf(obj).Elem(), path) }
			obj := with()
			drop(obj, nil)
			if kept(obj) {
				t.Errorf("%T: a create keeps %v.%s", kind, of, name)
			}
			obj = with()
			drop(obj, reflect.New(typ).Interface().(runtime.Object))
			if kept(obj) {
				t.Errorf("%T: an update of an object without %v.%s keeps it", kind, of, name)
			}
			obj = with()
			if drop(obj, with()); !kept(obj) {
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
		if allOff.gateOf(t, t.Field(i).Name) != "" {
			all = append(all, []int{i})
		}
		for _, rest := range paths(structOf(t.Field(i).Type), seen) {
			all = append(all, append([]int{i}, rest...))
		}
	}
	return all
}

// set makes v have the field at the end of the path. In slices it is in the second element.
func set(v reflect.Value, path []int) {
	f := v.Field(path[0])
	elem := f
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		elem = f.Elem()
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 2, 2))
		elem = f.Index(1)
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
		elem = reflect.New(f.Type().Elem()).Elem()
	case reflect.Int64:
		f.SetInt(1)
	}
	if len(path) > 1 {
		set(elem, path[1:])
	}
	if f.Kind() == reflect.Map {
		f.SetMapIndex(reflect.Zero(f.Type().Key()), elem)
	}
}

// has reports whether v has the field at the end of the path, where set sets it.
func has(v reflect.Value, path []int) bool {
	f := v.Field(path[0])
	if len(path) == 1 {
		return !f.IsZero()
	}
	if f.IsZero() {
		return false
	}
	switch f.Kind() {
	case reflect.Pointer:
		f = f.Elem()
	case reflect.Slice:
		f = f.Index(1)
	case reflect.Map:
		f = f.MapIndex(reflect.Zero(f.Type().Key()))
	}
	return has(f, path[1:])
}

// TestOtherGateInUse checks that a gate in use keeps no field of another gate, and the warning's path.
func TestOtherGateInUse(t *testing.T) {
	pod := func() *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{EvictionResponders: make([]corev1.EvictionResponder, 1)}}
	}
	obj, old := pod(), pod()
	obj.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
	got := dropOf(newCompiler(API{}.Enabled), obj)(obj, old)
	if obj.Spec.SchedulingGroup != nil || obj.Spec.EvictionResponders == nil {
		t.Errorf("%+v", obj.Spec)
	}
	if want := "spec.schedulingGroup: dropped, since the feature gate GenericWorkload is off: the pod is scheduled by itself"; !slices.Equal(got, []string{want}) {
		t.Errorf("warnings %q", got)
	}
	if dropOf(allOff, &corev1.ConfigMap{}) != nil {
		t.Error("ConfigMap has gated fields")
	}
}

// TestTypeInItself checks that fields are dropped in templates at each level of templates of templates.
func TestTypeInItself(t *testing.T) {
	type composite = schedulingv1beta1.CompositePodGroupTemplate
	never := schedulingv1beta1.PreemptNever
	leaf := []schedulingv1beta1.PodGroupTemplate{{PreemptionPolicy: &never, ResourceClaims: make([]schedulingv1beta1.PodGroupResourceClaim, 1)}}
	made := func() *schedulingv1beta1.Workload {
		third := composite{PreemptionPolicy: &never, PodGroupTemplates: slices.Clone(leaf)}
		second := composite{PreemptionPolicy: &never, CompositePodGroupTemplates: []composite{{}, third}}
		return &schedulingv1beta1.Workload{Spec: schedulingv1beta1.WorkloadSpec{CompositePodGroupTemplates: []composite{{CompositePodGroupTemplates: []composite{second}}}}}
	}
	drop := dropOf(newCompiler(func(gate string) bool { return gate == "CompositePodGroup" }), made())
	obj := made()
	drop(obj, nil)
	second := obj.Spec.CompositePodGroupTemplates[0].CompositePodGroupTemplates[0]
	third := second.CompositePodGroupTemplates[1]
	if second.PreemptionPolicy != nil || third.PreemptionPolicy != nil || third.PodGroupTemplates[0].PreemptionPolicy != nil || third.PodGroupTemplates[0].ResourceClaims != nil {
		t.Errorf("a create keeps fields: %+v", second)
	}
	old := made()
	old.Spec.CompositePodGroupTemplates[0].CompositePodGroupTemplates[0].CompositePodGroupTemplates[1].PodGroupTemplates[0].ResourceClaims = nil
	obj = made()
	drop(obj, old)
	third = obj.Spec.CompositePodGroupTemplates[0].CompositePodGroupTemplates[0].CompositePodGroupTemplates[1]
	if third.PreemptionPolicy == nil || third.PodGroupTemplates[0].ResourceClaims != nil {
		t.Errorf("an update of an object with preemption policies: %+v", third)
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
	drop := dropOf(newCompiler(API{}.Enabled), pod)
	b.ReportAllocs()
	for b.Loop() {
		drop(pod, nil)
	}
}
