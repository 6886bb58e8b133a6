package remember_test

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/internal/remember"
)

func TestMemory(t *testing.T) {
	now := time.Unix(1000, 0)
	m := remember.New[int](3, func() time.Time { return now })
	m.Put([]byte("short"), 1, now.Add(time.Second))
	m.Put([]byte("long"), 2, now.Add(time.Hour))
	if v, ok := m.Get([]byte("short")); !ok || v != 1 {
		t.Errorf("short is %d %v", v, ok)
	}
	if _, ok := m.Get([]byte("other")); ok {
		t.Error("what was never put is there")
	}
	now = now.Add(time.Second)
	if _, ok := m.Get([]byte("short")); ok {
		t.Error("short is there at its end")
	}
	m.Put([]byte("a"), 3, now.Add(time.Hour))
	m.Put([]byte("b"), 4, now.Add(time.Hour)) // evicts only the expired one
	for _, k := range []string{"long", "a", "b"} {
		if _, ok := m.Get([]byte(k)); !ok {
			t.Errorf("%s went, though there was room", k)
		}
	}
	there := 0
	for i := range 10 {
		m.Put(fmt.Append(nil, i), i, now.Add(time.Hour))
	}
	for i := range 10 {
		if _, ok := m.Get(fmt.Append(nil, i)); ok {
			there++
		}
	}
	if there == 0 || there > 3 {
		t.Errorf("%d are kept of 10, where 3 may be", there)
	}
	if v, ok := m.Get([]byte("9")); !ok || v != 9 {
		t.Error("the last one is not kept")
	}
}
