package nodegroups

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/chance"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/nodekind"
)

// GroupLabel is the label of a Node with the name of its group.
const GroupLabel = "fairlead.dev/node-group"

// idPrefix is that of the providerIDs of Nodes, before the group and the Node's name.
const idPrefix = "fairlead://"

// id returns the ID of an instance: the providerID of its Node.
func (g *Group) id(name string) string { return idPrefix + g.Name + "/" + name }

// instanceName returns the name of an instance and its Node.
func (g *Group) instanceName(number int) string { return fmt.Sprintf("%s-%d", g.Name, number) }

// numberOf returns the number in the name of a Node of the group; 0 for another name.
func (g *Group) numberOf(n *corev1.Node) int {
	digits, _ := strings.CutPrefix(n.Name, g.Name+"-")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return number
}

// splitID returns the group and the name of the instance of an ID; "" for one of another provider.
func splitID(id string) (group, name string) {
	rest, ok := strings.CutPrefix(id, idPrefix)
	if group, name, slash := strings.Cut(rest, "/"); ok && slash {
		return group, name
	}
	return "", ""
}

// nodeOf returns the Node of an instance as it is created.
func (g *Group) nodeOf(number int) *corev1.Node {
	name := g.instanceName(number)
	n := g.node.DeepCopy()
	n.TypeMeta = metav1.TypeMeta{}
	n.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: n.Labels, Annotations: n.Annotations}
	metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelHostname, name)
	metav1.SetMetaDataLabel(&n.ObjectMeta, GroupLabel, g.Name)
	if n.Labels[corev1.LabelInstanceTypeStable] == "" {
		n.Labels[corev1.LabelInstanceTypeStable] = g.Name
	}
	if zones := g.Zones; len(zones) > 0 {
		n.Labels[corev1.LabelTopologyZone] = zones[(number-1)%len(zones)]
	}
	metav1.SetMetaDataAnnotation(&n.ObjectMeta, nodekind.Simulated, "true")
	n.Spec.ProviderID = g.id(name)
	n.Spec.PodCIDR, n.Spec.PodCIDRs = "", nil
	n.Status.Conditions, n.Status.Addresses = nil, nil
	return n
}

// begin starts the creation of an instance, or lets it fail.
func (g *Group) begin(i *instance, seed int64, now time.Time) {
	i.OutOfStock = false
	draw := func(purpose string) float64 {
		return chance.Of(fmt.Sprintf("%d/%s/%d/%s", seed, g.Name, i.Number, purpose))
	}
	share := draw("failure")
	for f := range g.Failures {
		if share -= g.Failures[f].Rate; share < 0 {
			i.Failed = &g.Failures[f]
			return
		}
	}
	i.Running = now.Add(spanAt(g.ProvisionTime, draw("provision")))
	i.Registers = i.Running.Add(spanAt(g.RegistrationTime, draw("registration")))
}

func spanAt(s *images.Span, share float64) time.Duration {
	if s == nil {
		return 0
	}
	return s.At(share)
}

// stockOut returns the end of the stock-out at a time; zero without one.
func (g *Group) stockOut(since, now time.Time) (end time.Time) {
	for _, out := range g.StockOuts {
		from := since.Add(out.After.Duration)
		until := from.Add(out.For.Duration)
		if !now.Before(from) && now.Before(until) && until.After(end) {
			end = until
		}
	}
	return end
}
