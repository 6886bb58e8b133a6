package port_test

import (
	"net"
	"testing"

	"fairlead.dev/internal/port"
)

func TestFree(t *testing.T) {
	addresses, err := port.Free(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range addresses {
		if seen[a] {
			t.Errorf("%s comes twice", a)
		}
		seen[a] = true
		for range 2 { // it can be had, and again
			l, err := net.Listen("tcp", a)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d addresses", len(seen))
	}
}
