package e2e

import (
	"strings"
	"syscall"
	"testing"

	"fairlead.dev/internal/badnet"
)

// TestTakeover: of two whole control planes on one etcd cluster, the one that holds the leases, which last an hour, crashes, is paused, or loses its
// connection to etcd. The other one takes over all the same. The first goes on as a candidate, and takes over when the other one crashes.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(p *process, etcd *badnet.Proxy) (back func()){
		"crash": func(p *process, _ *badnet.Proxy) func() {
			p.kill(syscall.SIGKILL)
			return nil
		},
		"pause": func(p *process, _ *badnet.Proxy) func() {
			p.cmd.Process.Signal(syscall.SIGSTOP)
			return func() { p.cmd.Process.Signal(syscall.SIGCONT) }
		},
		"partition": func(_ *process, etcd *badnet.Proxy) func() {
			etcd.Set(badnet.Conditions{Silent: true})
			return func() { etcd.Set(badnet.Conditions{}) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			etcd := startEtcd(t)
			proxy, err := badnet.New(strings.TrimPrefix(etcd, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			start := func(etcd string) *process {
				return up(t, t.TempDir(), "--nodes=2", "--v=0", "--etcd-servers="+etcd, "--leader-elect-lease-duration=1h", "--leader-elect-renew-deadline=59m")
			}
			const leads = `msg="became the leader"`
			leaders := func(p *process, n int) func() bool {
				return func() bool { return strings.Count(p.stderr.String(), leads) == n }
			}
			rollOut := func(p *process, name string) {
				p.kubectl("create", "deployment", name, "--image=nginx", "--replicas=3")
				p.kubectl("rollout", "status", "deployment/"+name, "--timeout="+patience.String())
			}
			const leases = 3 // of controllers, scheduler and nodes
			first := start("http://" + proxy.Addr())
			eventually(t, "the first process leads", leaders(first, leases))
			second := start(etcd)
			rollOut(second, "before")
			if strings.Contains(second.stderr.String(), leads) {
				t.Errorf("two processes lead:\n%s", second.stderr)
			}

			back := lose(first, proxy)
			eventually(t, "the second process leads", leaders(second, leases))
			rollOut(second, "after")
			if back == nil {
				return
			}

			back()
			eventually(t, "the first process does not lead", func() bool {
				return strings.Count(first.stderr.String(), `msg="lost the lease"`) == leases
			})
			rollOut(first, "again")
			if !leaders(first, leases)() || !leaders(second, leases)() {
				t.Errorf("the first process leads again: %s\nafter %s", first.stderr, second.stderr)
			}
			second.kill(syscall.SIGKILL)
			eventually(t, "the first process leads again", leaders(first, 2*leases))
			rollOut(first, "last")
			first.stop()
		})
	}
}

// TestOrderlyTakeover: a process that ends in an orderly way gives its leases up, so that the other one does not wait until it asks again,
// which is after an hour here.
func TestOrderlyTakeover(t *testing.T) {
	t.Parallel()
	flags := []string{"--nodes=2", "--v=0", "--etcd-servers=" + startEtcd(t), "--leader-elect-lease-duration=3h", "--leader-elect-renew-deadline=2h", "--leader-elect-retry-period=1h"}
	first := up(t, t.TempDir(), flags...)
	leads := func(p *process) func() bool {
		return func() bool { return strings.Count(p.stderr.String(), `msg="became the leader"`) == 3 }
	}
	eventually(t, "the first process leads", leads(first))
	second := up(t, t.TempDir(), flags...)
	second.kubectl("create", "deployment", "web", "--image=nginx")
	second.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	first.stop()
	eventually(t, "the second process leads", leads(second))
	second.stop()
}
