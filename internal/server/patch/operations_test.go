package patch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/patch"
)

// doubling returns a patch of n operations, each of which copies all of /data into itself.
func doubling(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `,{"op":"copy","from":"/data","path":"/data/c%d"}`, i)
	}
	b.Bytes()[0] = '['
	return append(b.Bytes(), ']')
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestCopiesAreBounded checks that eight copies of a text of 100 KB fit into the 3 MiB that the copies of a patch
// may have, and that more are refused as by kube-apiserver.
func TestCopiesAreBounded(t *testing.T) {
	doc := []byte(`{"data":{"a":"` + strings.Repeat("x", 100<<10) + `"}}`)
	var err error
	took := allocated(func() {
		_, err = patch.Patch{Type: types.JSONPatchType, Body: doubling(8), Strict: true}.Apply(t.Context(), doc, nil)
	})
	if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != 422 {
		t.Errorf("the copies were answered with %v", err)
	}
	if took > 100<<20 {
		t.Errorf("the copies took %d MB", took>>20)
	}
}

// TestManyOperations checks that a patch longer than one stride has the same result as a short one, and that its
// copies count together.
func TestManyOperations(t *testing.T) {
	var list []string
	for i := range 4500 {
		list = append(list, fmt.Sprintf(`{"op":"add","path":"/list/-","value":%d}`, i))
	}
	ops, err := patch.ParseOperations([]byte("[" + strings.Join(list, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ops.Apply(t.Context(), []byte(`{"list":[]}`))
	var doc struct{ List []int }
	if err != nil || json.Unmarshal(got, &doc) != nil || len(doc.List) != 4500 || doc.List[4499] != 4499 {
		t.Errorf("the list has %d members: %v", len(doc.List), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := ops.Apply(ended, []byte(`{"list":[]}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("the patch went on after its request: %v", err)
	}

	list = list[:0]
	for i := range 2500 {
		list = append(list, fmt.Sprintf(`{"op":"copy","from":"/a","path":"/b%d"}`, i))
	}
	ops, err = patch.ParseOperations([]byte("[" + strings.Join(list, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ops.Apply(t.Context(), []byte(`{"a":"`+strings.Repeat("x", 3000)+`"}`))
	if err == nil || !strings.Contains(err.Error(), "exceeding the limit 3145728") {
		t.Errorf("7.5 MB of copies: %v", err)
	}
}

// TestListsAreBounded checks that a strategic merge patch is refused if comparing its lists item by item would take
// minutes, and that one with merely long lists is applied.
func TestListsAreBounded(t *testing.T) {
	list := func(n int) []byte {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"a.io/%d"`, i)
		}
		return []byte(`{"metadata":{"finalizers":[` + strings.Join(all, ",") + `]}}`)
	}
	apply := func(n int) error {
		_, err := patch.Patch{Type: types.StrategicMergePatchType, Body: list(n)}.Apply(t.Context(), list(n), &corev1.ConfigMap{})
		return err
	}
	if err := apply(1000); err != nil {
		t.Error(err)
	}
	if err := apply(80_000); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("80,000 finalizers: %v", err)
	}
}
