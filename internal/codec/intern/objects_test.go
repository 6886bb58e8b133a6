package intern_test

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

func podAt(p rawmem.Pointer) *corev1.Pod { return rawmem.At[corev1.Pod](p) }

// TestObjects: readers of the same bytes get one object as long as any of them keeps it, and no longer.
func TestObjects(t *testing.T) {
	var o intern.Objects
	d := intern.DigestOf([]byte("a pod"))
	if !o.Find(d).IsNil() {
		t.Fatal("an object that nothing has kept")
	}
	first := &corev1.Pod{}
	first.Name = "first"
	if got := podAt(o.Keep(d, rawmem.To(first))); got != first {
		t.Errorf("kept %p, want %p", got, first)
	}
	if got := podAt(o.Keep(d, rawmem.To(&corev1.Pod{}))); got != first {
		t.Errorf("the second reader got %p, want %p", got, first)
	}
	if got := podAt(o.Find(d)); got != first || got.Name != "first" {
		t.Errorf("found %p, want %p", got, first)
	}
	if !o.Find(intern.DigestOf([]byte("another pod"))).IsNil() {
		t.Error("other bytes have the object, too")
	}
	runtime.KeepAlive(first)
	first = nil
	runtime.GC()
	if p := o.Find(d); !p.IsNil() {
		t.Errorf("%v is still there", podAt(p).Name)
	}
	second := &corev1.Pod{}
	if got := podAt(o.Keep(d, rawmem.To(second))); got != second {
		t.Errorf("kept %p after the collection, want %p", got, second)
	}
}

// TestObjectsOfManyReaders decodes the same objects in several goroutines while most of them are collected.
func TestObjectsOfManyReaders(t *testing.T) {
	const objects, readers = 2000, 4
	var o intern.Objects
	kept := make([][]*corev1.Pod, readers)
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for i := range objects {
				d := intern.DigestOf(fmt.Appendf(nil, "pod %d", i))
				p := o.Find(d)
				if p.IsNil() {
					pod := &corev1.Pod{}
					pod.Name = fmt.Sprint(i)
					p = o.Keep(d, rawmem.Of(reflect.ValueOf(pod)))
				}
				if i%10 == 0 {
					kept[r] = append(kept[r], podAt(p))
				}
				if i%500 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	for r := range kept {
		for i, pod := range kept[r] {
			if pod.Name != fmt.Sprint(10*i) || pod != kept[0][i] {
				t.Fatalf("reader %d has %p %q in place of %p", r, pod, pod.Name, kept[0][i])
			}
		}
	}
}
