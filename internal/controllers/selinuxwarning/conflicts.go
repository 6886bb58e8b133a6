package selinuxwarning

import (
	"fmt"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead.dev/controller"
)

// Conflicts has the uses of all labeled volumes, and shows the conflicts among them as a metric of kube-controller-manager:
//
//	c := selinuxwarning.NewConflicts()
//	registry.MustRegister(c)
//	run := selinuxwarning.New(env, selinuxwarning.Options{Conflicts: c})
//
// It may be used from any goroutine, by one controller at a time.
type Conflicts struct {
	mu struct {
		sync.Mutex
		volumes map[string]map[controller.Key]use // by volume and pod
		pods    map[controller.Key]map[string]use // the same by pod and volume
	}
}

// NewConflicts returns Conflicts without volumes.
func NewConflicts() *Conflicts {
	c := &Conflicts{}
	c.forgetAll()
	return c
}

// A conflict is one of two pods that use a volume, as the first one is told of it.
type conflict struct {
	property          string // SELinuxLabel or SELinuxChangePolicy
	pod, other        controller.Key
	value, otherValue string
}

func (c *conflict) message() string {
	const then = "If both pods land on the same node, only one of them may access the volume."
	if c.pod.Namespace != c.other.Namespace { // whose names this pod is not to know
		return fmt.Sprintf("%s %q conflicts with another pod that uses the same volume as this pod with a different %s. %s", c.property, c.value, c.property, then)
	}
	return fmt.Sprintf("%s %q conflicts with pod %s that uses the same volume as this pod with %s %q. %s", c.property, c.value, c.other.Name, c.property, c.otherValue, then)
}

// between returns the conflicts of two pods, each told to both.
func between(pod controller.Key, u use, other controller.Key, o use) (all []conflict) {
	add := func(property, value, otherValue string) {
		all = append(all, conflict{property, pod, other, value, otherValue}, conflict{property, other, pod, otherValue, value})
	}
	if u.policy != o.policy {
		add("SELinuxChangePolicy", string(u.policy), string(o.policy))
	}
	if differ(u.label, o.label) {
		add("SELinuxLabel", u.label, o.label)
	}
	return all
}

// differ reports whether two labels cannot be the same on any node. Nodes complete missing users, roles and types, but no levels.
func differ(a, b string) bool {
	x, y := parts(a), parts(b)
	for i := range 3 {
		if x[i] != y[i] && x[i] != "" && y[i] != "" {
			return true
		}
	}
	return x[3] != y[3]
}

// parts returns the user, the role, the type and the level, which may have a colon itself.
func parts(label string) (p [4]string) {
	copy(p[:], strings.SplitN(label, ":", 4))
	return p
}

// set replaces the uses of a pod, and returns the conflicts of those that are new.
func (c *Conflicts) set(pod controller.Key, uses map[string]use) (news []conflict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.mu.pods[pod] {
		if _, still := uses[id]; !still {
			c.drop(id, pod)
		}
	}
	delete(c.mu.pods, pod)
	if len(uses) > 0 {
		c.mu.pods[pod] = uses
	}
	for id, u := range uses {
		users := c.mu.volumes[id]
		if users == nil {
			users = map[controller.Key]use{}
			c.mu.volumes[id] = users
		}
		if was, known := users[pod]; known && was == u {
			continue
		}
		users[pod] = u
		for other, o := range users {
			if other != pod {
				news = append(news, between(pod, u, other, o)...)
			}
		}
	}
	return news
}

// forget removes a pod.
func (c *Conflicts) forget(pod controller.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.mu.pods[pod] {
		c.drop(id, pod)
	}
	delete(c.mu.pods, pod)
}

// drop removes a user of a volume. c.mu is held.
func (c *Conflicts) drop(id string, pod controller.Key) {
	if users := c.mu.volumes[id]; len(users) > 1 {
		delete(users, pod)
	} else {
		delete(c.mu.volumes, id)
	}
}

func (c *Conflicts) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.volumes, c.mu.pods = map[string]map[controller.Key]use{}, map[controller.Key]map[string]use{}
}

// podsOf returns the pods with volumes of a CSI driver.
func (c *Conflicts) podsOf(driver string) (pods []controller.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pod, uses := range c.mu.pods {
		for _, u := range uses {
			if u.driver == driver {
				pods = append(pods, pod)
				break
			}
		}
	}
	return pods
}

var metric = prometheus.NewDesc("selinux_warning_controller_selinux_volume_conflict", "Two pods that use a volume with different SELinux labels or policies.",
	[]string{"property", "pod1_namespace", "pod1_name", "pod1_value", "pod2_namespace", "pod2_name", "pod2_value"}, nil)

// Describe implements prometheus.Collector.
func (c *Conflicts) Describe(to chan<- *prometheus.Desc) { to <- metric }

// Collect implements prometheus.Collector.
func (c *Conflicts) Collect(to chan<- prometheus.Metric) {
	for all := range c.present() {
		to <- prometheus.MustNewConstMetric(metric, prometheus.GaugeValue, 1,
			all.property, all.pod.Namespace, all.pod.Name, all.value, all.other.Namespace, all.other.Name, all.otherValue)
	}
}

// present returns all conflicts. Pods with the same use are not compared, so that many equal ones cost little.
func (c *Conflicts) present() map[conflict]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[conflict]struct{}{}
	for _, users := range c.mu.volumes {
		byUse := map[use][]controller.Key{}
		for pod, u := range users {
			byUse[u] = append(byUse[u], pod)
		}
		for u, pods := range byUse {
			for o, others := range byUse {
				if u == o || u.policy == o.policy && !differ(u.label, o.label) {
					continue
				}
				for _, pod := range pods {
					for _, other := range others {
						for _, one := range between(pod, u, other, o) {
							all[one] = struct{}{}
						}
					}
				}
			}
		}
	}
	return all
}
