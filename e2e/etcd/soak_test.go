//go:build soak

package etcd_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/storagetest"
)

func TestConformanceOfThreeMembers(t *testing.T) {
	storagetest.RunRemote(t, func(t testing.TB) storage.Store {
		return startCluster(t).open(t, etcd.Options{Timeout: 2 * time.Second})
	})
}

// TestConformanceBelowPrefix runs the suite below a prefix, with another root.
func TestConformanceBelowPrefix(t *testing.T) {
	storagetest.RunRemote(t, func(t testing.TB) storage.Store {
		return open(t, startMember(t), etcd.Options{Root: "/", Prefix: "/below/"})
	})
}

// TestTroubles injects random faults: it kills members, moves the leader, and stops members
// for a while, which is worse than a kill, since their connections stay open.
func TestTroubles(t *testing.T) {
	const seed, rounds = 1, 30
	random := rand.New(rand.NewPCG(seed, 0))
	c := startCluster(t)
	o := etcd.Options{Timeout: 2 * time.Second, Buffer: 16 << 10}
	writer, watched := c.open(t, o), c.open(t, o)
	h := begin(t, writer, watched)
	for round := range rounds {
		h.progress(20)
		m := c[random.IntN(len(c))]
		switch random.IntN(3) {
		case 0:
			t.Logf("round %d: %s is killed", round, m.Name)
			m.kill()
			h.progress(20)
			m.start(t)
		case 1:
			t.Logf("round %d: the leader is moved", round)
			c.waitHealthy(t)
			c.move(t)
		case 2:
			t.Logf("round %d: %s hangs", round, m.Name)
			m.signal(t, syscall.SIGSTOP)
			h.progress(20)
			h.take(writer.Revision())
			m.signal(t, syscall.SIGCONT)
		}
		h.take(writer.Revision())
		c.waitHealthy(t)
	}
	h.end()
}
