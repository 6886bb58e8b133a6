package quoted

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/randfill"

	"fairlead.dev/internal/resource"
)

// TestNamesAreFields checks the tables against their types.
func TestNamesAreFields(t *testing.T) {
	for _, table := range []map[reflect.Type][]string{orders, elsewhere, plain} {
		for typ, names := range table {
			for _, name := range names {
				if _, ok := typ.FieldByName(name); !ok {
					t.Errorf("%v has no field %s", typ, name)
				}
			}
		}
	}
}

func TestQuoted(t *testing.T) {
	one := intstr.FromInt32(1)
	for _, c := range []struct {
		value any
		want  string
	}{
		{"plain", `"plain"`},
		{3, `3`},
		{&metav1.LabelSelector{}, `{}`},
		{policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{}},
			`{"MinAvailable":1,"Selector":{},"MaxUnavailable":null,"UnhealthyPodEvictionPolicy":null}`},
		{[]corev1.ServicePort{{Port: 80}}, `[{"Name":"","Protocol":"","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}]`},
		{&corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}}, `{"Name":"v","HostPath":null,"EmptyDir":null,` +
			`"GCEPersistentDisk":null,"AWSElasticBlockStore":null,"GitRepo":null,"Secret":null,"NFS":null,"ISCSI":null,"Glusterfs":null,` +
			`"PersistentVolumeClaim":null,"RBD":null,"FlexVolume":null,"Cinder":null,"CephFS":null,"Flocker":null,"DownwardAPI":null,` +
			`"FC":null,"AzureFile":null,"ConfigMap":null,"VsphereVolume":null,"Quobyte":null,"AzureDisk":null,"PhotonPersistentDisk":null,"Projected":null,` +
			`"PortworxVolume":null,"ScaleIO":null,"StorageOS":null,"CSI":null,"Ephemeral":null,"Image":{"Reference":"","PullPolicy":""}}`},
	} {
		list := Faults(field.ErrorList{field.Invalid(field.NewPath("a"), c.value, "no")})
		if got, want := list[0].Error(), "a: Invalid value: "+c.want+": no"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestAnything checks that quoting a random object of any kind yields valid JSON.
func TestAnything(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(1, 2).MaxDepth(8).Funcs(
		func(*metav1.ObjectMeta, randfill.Continue) {}, func(*runtime.RawExtension, randfill.Continue) {},
		func(*metav1.FieldsV1, randfill.Continue) {}, func(*metav1.Time, randfill.Continue) {},
	)
	for gvk, typ := range maps.All(resource.Scheme().AllKnownTypes()) {
		if !isOurs(typ) {
			continue
		}
		v := reflect.New(typ)
		fill.Fill(v.Interface())
		data, err := json.Marshal(whole{v.Elem().Interface()})
		if err != nil || !json.Valid(data) {
			t.Errorf("%v: %v\n%s", gvk, err, data)
		}
	}
}
