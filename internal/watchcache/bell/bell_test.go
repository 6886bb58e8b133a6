package bell

import "testing"

// TestEarlyRing: a ring before a reader attaches is heard once by the reader.
func TestEarlyRing(t *testing.T) {
	var b Bell
	b.Ring()
	b.Ring()
	select {
	case <-b.Channel():
	default:
		t.Fatal("the channel has no early ring")
	}
	select {
	case <-b.Channel():
		t.Fatal("two early rings are two signals")
	default:
	}
	rings := 0
	b.OnRing(func() { rings++ })
	if b.Ring(); rings != 1 {
		t.Fatalf("%d calls after one ring", rings)
	}
}
