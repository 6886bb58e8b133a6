package admission

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// allocation holds the addresses and ports that one request allocates and releases. The plugin's lock is held around all of it.
type allocation struct {
	a            *ServiceAllocation
	ctx          context.Context
	r            *Request
	owner        string
	svc, old     *corev1.Service
	taken, freed []holding
}

func (t *allocation) do() error {
	if err := t.families(); err != nil {
		return err
	}
	if err := t.clusterIPs(); err != nil {
		return err
	}
	return t.nodePorts()
}

// undo releases everything that was allocated.
func (t *allocation) undo() {
	for _, h := range t.taken {
		delete(t.a.mu.inFlight, h)
		if n, err := t.a.port(h); err == nil {
			t.a.mu.ports.free(n, t.owner)
		}
	}
	t.taken = nil
}

// keep makes the allocation final: allocated addresses and ports belong to the service under its final name, and unused ones are released.
func (t *allocation) keep() {
	now := owner(t.svc)
	for _, h := range t.taken {
		delete(t.a.mu.inFlight, h)
		if n, err := t.a.port(h); err == nil {
			t.a.mu.ports.owners[n] = now
		}
	}
	for _, h := range t.freed {
		if n, err := t.a.port(h); err == nil {
			t.a.mu.ports.free(n, now)
		}
	}
}

// took records that h is reserved for the service.
func (t *allocation) took(h holding) {
	t.taken = append(t.taken, h)
	t.a.mu.inFlight[h] = true
}

// takePort allocates a node port that the service requests.
func (t *allocation) takePort(h holding) error {
	if slices.Contains(held(t.old), h) || slices.Contains(t.taken, h) {
		return nil // it may be out of the range, if the range was another one
	}
	if t.r.DryRun {
		return t.tryPort(h)
	}
	n, err := t.a.port(h)
	if err != nil {
		return err
	}
	free := t.a.mu.ports.take(n, t.owner, func(owner string, _ int) bool { return t.stale(owner, h) })
	if free {
		free, err = t.reserve(n)
	}
	if err == nil && !free {
		err = errors.New("provided port is already allocated")
	}
	if err != nil {
		return err
	}
	t.took(h)
	return nil
}

// reserve reserves in the store the port that the pool has given to the service. It returns false if the pool did not know yet that
// another service holds it.
func (t *allocation) reserve(n int) (free bool, err error) {
	if t.a.reserved == nil {
		return true, nil
	}
	key := t.portKey(n)
	at, err := t.a.reserved(t.ctx, key)
	if err == nil && at > 0 {
		err = t.a.load(t.ctx)
	}
	ports := t.a.mu.ports
	if err != nil {
		ports.free(n, t.owner)
		return false, err
	}
	if have, held := ports.owners[n]; at > 0 && held && have != t.owner {
		return false, nil
	}
	ports.owners[n] = t.owner
	t.r.Reserve(Reservation{Key: key, Owner: t.owner, At: at})
	return true, nil
}

// portKey returns the key in the store of a port with an index in the range.
func (t *allocation) portKey(n int) string {
	return fmt.Sprintf("/registry/fairlead-node-ports/%d", t.a.port0+n)
}

// stale reports whether the owner of h no longer holds it.
func (t *allocation) stale(owner string, h holding) bool {
	if t.a.mu.inFlight[h] {
		return false
	}
	namespace, name, _ := strings.Cut(owner, "/")
	obj, err := t.a.lookup.Get(t.ctx, core("services"), namespace, name)
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	return !slices.Contains(held(obj.(*corev1.Service)), h)
}

func familyOf(ip netip.Addr) corev1.IPFamily {
	if ip.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// moves reports whether the update replaces an address of the service, which is not allowed.
func (t *allocation) moves(i int) bool {
	was := &t.old.Spec
	return was.Type != corev1.ServiceTypeExternalName && i < len(was.ClusterIPs) && was.ClusterIPs[i] != "" && was.ClusterIPs[i] != t.svc.Spec.ClusterIPs[i]
}

// clusterIPs allocates an address per family.
func (t *allocation) clusterIPs() error {
	s := &t.svc.Spec
	if s.Type == corev1.ServiceTypeExternalName || s.ClusterIP == corev1.ClusterIPNone || len(t.a.families) == 0 {
		return nil
	}
	path := field.NewPath("spec", "clusterIPs")
	for i, family := range s.IPFamilies {
		if i < len(s.ClusterIPs) && s.ClusterIPs[i] != "" {
			if t.moves(i) {
				continue // rejected by validation
			}
			ip, err := netip.ParseAddr(s.ClusterIPs[i])
			if err != nil {
				continue // reported by validation
			}
			if err := t.takeAddress(ip); err != nil {
				return invalidService(t.svc, field.Invalid(path, s.ClusterIPs, fmt.Sprintf("failed to allocate IP %v: %v", ip, err)))
			}
			continue
		}
		ip, err := t.anyAddress(family)
		if errors.Is(err, errFull) {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", t.svc.Name, err))
		}
		if err != nil {
			return invalidService(t.svc, field.Invalid(path, s.ClusterIPs, fmt.Sprintf("failed to allocate IP: %v", err)))
		}
		if i < len(s.ClusterIPs) {
			s.ClusterIPs[i] = ip.String()
		} else {
			s.ClusterIPs = append(s.ClusterIPs, ip.String())
		}
	}
	if len(s.ClusterIPs) > 0 {
		s.ClusterIP = s.ClusterIPs[0]
	}
	return nil
}
