package addresses

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	a := New(netip.MustParsePrefix("10.128.0.0/29"), netip.Prefix{}) // .1 is the gateway, .7 for broadcast
	a.Reserve(netip.MustParseAddr("10.128.0.3"))
	take := func(want string) {
		t.Helper()
		got, err := a.Take()
		if err != nil || got.String() != want {
			t.Fatalf("took %v, %v, want %s", got, err, want)
		}
	}
	take("10.128.0.2")
	take("10.128.0.4")
	a.Free(netip.MustParseAddr("10.128.0.2"))
	take("10.128.0.5")
	take("10.128.0.6")
	take("10.128.0.2")
	if got, err := a.Take(); err == nil {
		t.Errorf("took %v of an exhausted range", got)
	}
}

func TestPodRanges(t *testing.T) {
	all := netip.MustParsePrefix("10.128.0.0/9")
	for _, tc := range []struct {
		i    int
		pods int64
		want string
	}{
		{0, 110, "10.128.0.0/24"}, {1, 110, "10.128.1.0/24"}, {300, 110, "10.129.44.0/24"}, {1, 1000, "10.128.8.0/21"},
		{1, 30, "10.128.0.64/26"}, {99_999, 30, "10.225.167.192/26"}, {1, 0, "10.128.0.4/30"},
	} {
		if got, err := PodRange(all, tc.i, tc.pods, 1); err != nil || got.String() != tc.want {
			t.Errorf("node %d with %d pods: %v, %v, want %s", tc.i, tc.pods, got, err, tc.want)
		}
	}
	if got, err := PodRange(all, 1<<15, 110, 1); err == nil || !strings.Contains(err.Error(), "for 32768 nodes of 110 pods") {
		t.Errorf("a node past the end gets %v, %v", got, err)
	}
}
