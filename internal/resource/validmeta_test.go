package resource_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
)

// TestMetaAsApimachinery checks that random metadata, half of it invalid, has the same errors as by apimachinery,
// for creates and updates.
func TestMetaAsApimachinery(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	word := func() string {
		return pick("web", "web", "web", "a.b", "example.com/x", "Web_1", "", "-x", "x-", "a/b/c", "größe", strings.Repeat("y", 64), "/", "web-")
	}
	often := func(good string) string {
		if r.IntN(4) > 0 {
			return good
		}
		return word()
	}
	yes := true
	seconds := int64(3)
	random := func() *metav1.ObjectMeta {
		m := &metav1.ObjectMeta{Name: often("web"), GenerateName: pick("", "", word()), Namespace: often("default"), UID: types.UID(pick("1", "1", "1", "2")), ResourceVersion: pick("1", "1", ""), Generation: int64(r.IntN(8) - 1), CreationTimestamp: metav1.Unix(int64(r.IntN(8))/7, 0)}
		for range r.IntN(3) {
			m.Labels = map[string]string{often("app"): often("web")}
			m.Annotations = map[string]string{often("Example.com/X"): strings.Repeat("z", []int{1, 256 << 10}[r.IntN(9)/8])}
		}
		for range r.IntN(3) {
			m.Finalizers = append(m.Finalizers, pick("example.com/f", "orphan", "foregroundDeletion", word()))
			o := metav1.OwnerReference{APIVersion: pick("v1", "apps/v1", "", "a/b/c", "apps/"), Kind: pick("Pod", "Pod", "Event", ""), Name: pick("x", "x", ""), UID: types.UID(pick("u", "u", ""))}
			if r.IntN(3) == 0 {
				o.Controller = &yes
			}
			m.OwnerReferences = append(m.OwnerReferences, o)
			m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{Manager: pick("kubectl", "kubectl", "a\nb", strings.Repeat("m", 129)), Operation: metav1.ManagedFieldsOperationType(pick("Apply", "Update", "Update", "", "x")), FieldsType: pick("FieldsV1", "FieldsV1", "", "V2"), Subresource: pick("", "status", strings.Repeat("s", 257))})
		}
		if r.IntN(6) == 0 {
			now := metav1.NewTime(time.Unix(5, 0))
			m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &now, &seconds
		}
		return m
	}
	path := field.NewPath("metadata")
	clean := [2]int{}
	for range 15000 {
		m, old := random(), random()
		namespaced := r.IntN(5) > 0
		// finalizers without a domain are allowed there
		res := &resource.Resource{Group: "coordination.k8s.io", Namespaced: namespaced}
		same := func(what int, got, want field.ErrorList) {
			if len(want) == 0 {
				clean[what]++
			}
			if g, w := text(got), text(want); g != w {
				t.Fatalf("%+v\nafter %+v\ngot  %s\nwant %s", m, old, g, w)
			}
		}
		same(0, resource.ValidateObjectMeta(res, m), validation.ValidateObjectMetaAccessor(m, namespaced, validation.NameIsDNSSubdomain, path))
		same(1, resource.ValidateObjectMetaUpdate(m, old), validation.ValidateObjectMetaAccessorUpdate(m, old, path))
	}
	if clean[0] < 100 || clean[1] < 5 {
		t.Errorf("only %v were clean", clean)
	}
}

func text(list field.ErrorList) string {
	if len(list) == 0 {
		return ""
	}
	return list.ToAggregate().Error()
}
