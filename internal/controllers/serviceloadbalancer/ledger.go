package serviceloadbalancer

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/controller"
)

// ledger has the addresses of all Services.
type ledger struct {
	pool Pool
	mu   struct {
		sync.Mutex
		owners map[netip.Addr]types.UID
		shares map[types.UID]share
		// waiting are the Services that could not get an address.
		waiting map[controller.Key]bool
	}
}

// share is the addresses of a Service: those in its status as last seen, and those that it was given, which its status
// may not show yet.
type share struct{ shown, given []netip.Addr }

func (s share) all() []netip.Addr { return slices.Concat(s.shown, s.given) }

func newLedger(pool Pool) *ledger {
	l := &ledger{pool: pool}
	l.mu.owners, l.mu.shares, l.mu.waiting = map[netip.Addr]types.UID{}, map[types.UID]share{}, map[controller.Key]bool{}
	return l
}

// set replaces a Service's share. An address that another Service has already stays that one's. l.mu is held.
func (l *ledger) set(uid types.UID, s share) {
	for _, ip := range l.mu.shares[uid].all() {
		if l.mu.owners[ip] == uid {
			delete(l.mu.owners, ip)
		}
	}
	delete(l.mu.shares, uid)
	if len(s.all()) == 0 {
		return
	}
	l.mu.shares[uid] = s
	for _, ip := range s.all() {
		if _, owned := l.mu.owners[ip]; !owned {
			l.mu.owners[ip] = uid
		}
	}
}

// show records a Service's status, and returns the waiting Services if it may have released an address.
func (l *ledger) show(s *corev1.Service) []controller.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.mu.shares[s.UID]
	now := share{shown: shown(s), given: was.given}
	if !ours(s) {
		now.given = nil
	}
	if slices.Equal(was.shown, now.shown) && len(was.given) == len(now.given) {
		return nil
	}
	l.set(s.UID, now)
	return l.woken()
}

// gone releases the addresses of a deleted Service, and returns the waiting ones.
func (l *ledger) gone(s *corev1.Service) []controller.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.waiting, controller.KeyOf(s))
	l.set(s.UID, share{})
	return l.woken()
}

// woken returns the waiting Services, which wait no longer. l.mu is held.
func (l *ledger) woken() (keys []controller.Key) {
	for k := range l.mu.waiting {
		keys = append(keys, k)
	}
	clear(l.mu.waiting)
	return keys
}

// give returns the addresses of a Service: those that it has, and new ones for the rest. It returns none if exists
// returns false, and an error if an address is not free.
func (l *ledger) give(s *corev1.Service, exists func() bool) ([]netip.Addr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !exists() {
		return nil, nil
	}
	all, err := l.choose(s)
	if err != nil {
		l.mu.waiting[controller.KeyOf(s)] = true
		return nil, err
	}
	l.set(s.UID, share{shown: l.mu.shares[s.UID].shown, given: all})
	return all, nil
}

// choose selects an address of each family. l.mu is held.
func (l *ledger) choose(s *corev1.Service) (all []netip.Addr, err error) {
	asked, _ := netip.ParseAddr(s.Spec.LoadBalancerIP)
	if s.Spec.LoadBalancerIP != "" && !l.pool.contains(asked) {
		return nil, fmt.Errorf("the address %s is not in the pool", s.Spec.LoadBalancerIP)
	}
	for _, f := range s.Spec.IPFamilies {
		if !l.pool.has(f) {
			continue
		}
		ip, err := l.one(s, f, asked)
		if err != nil {
			return nil, err
		}
		all = append(all, ip)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the pool has no addresses of the families %v", s.Spec.IPFamilies)
	}
	return all, nil
}

// one selects the address of a family: that which the Service asks for, or has, or the first that is free. l.mu is held.
func (l *ledger) one(s *corev1.Service, f corev1.IPFamily, asked netip.Addr) (netip.Addr, error) {
	if asked.IsValid() && familyOf(asked) == f {
		if owner, owned := l.mu.owners[asked]; owned && owner != s.UID {
			return asked, fmt.Errorf("another Service has the address %s", asked)
		}
		return asked, nil
	}
	for _, ip := range l.mu.shares[s.UID].all() {
		if familyOf(ip) == f && l.mu.owners[ip] == s.UID && l.pool.contains(ip) {
			return ip, nil
		}
	}
	ip, ok := l.pool.free(f, func(ip netip.Addr) bool { _, owned := l.mu.owners[ip]; return owned })
	if !ok {
		return ip, fmt.Errorf("no %s address of the pool is free", f)
	}
	return ip, nil
}
