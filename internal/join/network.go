package join

import (
	"bytes"
	"context"
	"fmt"
	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"net/netip"
	"os/exec"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/nodekind"
)

// network is the way of pods to other nodes and out of the cluster: a route to the pods of each node through the node's
// address, so all nodes are on one link, and masquerading of packets that leave the cluster.
type network struct {
	own    []netip.Prefix
	routes map[netip.Prefix]netip.Addr
}

// keepNetwork writes the CNI configuration when the node's ranges are known, and follows the other nodes.
func (n *Node) keepNetwork(ctx context.Context, nodes client.Resource[*corev1.Node]) error {
	changed := make(chan struct{}, 1)
	wake := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	all := informer.New(nodes, informer.Options[*corev1.Node]{})
	all.Handle(informer.Handler[*corev1.Node]{
		Add: func(*corev1.Node, bool) { wake() }, Delete: func(*corev1.Node) { wake() },
		Update: func(old, new *corev1.Node) {
			if !slices.Equal(old.Spec.PodCIDRs, new.Spec.PodCIDRs) || !slices.Equal(old.Status.Addresses, new.Status.Addresses) {
				wake()
			}
		},
	})
	done := make(chan error, 1)
	go func() { done <- all.Run(ctx) }()
	var last network
	for {
		select {
		case <-changed:
		case err := <-done:
			return err
		case <-ctx.Done():
			return <-done
		}
		next := n.network(all.Store().List(""))
		if err := n.setNetwork(ctx, last, next); err != nil {
			if ctx.Err() == nil {
				return err
			}
			return <-done
		}
		last = next
	}
}

// network returns the network that the nodes ask for.
func (n *Node) network(nodes []*corev1.Node) network {
	w := network{own: n.PodRanges, routes: map[netip.Prefix]netip.Addr{}}
	for _, node := range nodes {
		ranges := rangesOf(node)
		if node.Name == n.Name {
			if w.own == nil {
				w.own = ranges
			}
			continue
		}
		if nodekind.IsSimulated(node) {
			continue
		}
		for _, r := range ranges {
			if via, ok := addressOf(node, r.Addr().Is4()); ok {
				w.routes[r] = via
			}
		}
	}
	return w
}

// rangesOf returns the ranges of a node's pods.
func rangesOf(node *corev1.Node) (ranges []netip.Prefix) {
	for _, text := range node.Spec.PodCIDRs {
		if r, err := netip.ParsePrefix(text); err == nil {
			ranges = append(ranges, r.Masked())
		}
	}
	return ranges
}

// addressOf returns the internal address of a node, of IPv4 or IPv6.
func addressOf(node *corev1.Node, v4 bool) (netip.Addr, bool) {
	for _, a := range node.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == corev1.NodeInternalIP && ip.Is4() == v4 {
			return ip, true
		}
	}
	return netip.Addr{}, false
}

// setNetwork changes the machine's network from one state to another one.
func (n *Node) setNetwork(ctx context.Context, last, next network) error {
	if len(next.own) == 0 {
		n.Progress("Pod range", "waiting for spec.podCIDR of the node: start the control plane with --cluster-cidr, or this command with --pod-cidr")
		return nil
	}
	if !slices.Equal(last.own, next.own) {
		f, err := CNIConfig(next.own)
		if err != nil {
			return err
		}
		if err := f.write(); err != nil {
			return err
		}
		n.Progress("Pod range", fmt.Sprintf("%v, in %s", next.own, cniFile))
	}
	for r, via := range next.routes {
		if last.routes[r] != via {
			if err := command(ctx, nil, "ip", "route", "replace", r.String(), "via", via.String()); err != nil {
				n.Progress("Route", err.Error()) // a node on another link: the operator routes to it
			}
		}
	}
	for r := range last.routes {
		if !next.routes[r].IsValid() {
			if err := command(ctx, nil, "ip", "route", "del", r.String()); err != nil {
				n.Progress("Route", err.Error())
			}
		}
	}
	return command(ctx, next.rules(), "nft", "-f", "-")
}

// rules returns the rules of nftables in a table of our own: packets of this node's pods to addresses that are no pods' get
// the node's address.
func (w network) rules() []byte {
	var out bytes.Buffer
	for _, family := range []struct {
		name string
		v4   bool
	}{{"ip", true}, {"ip6", false}} {
		var own, all []string
		for _, r := range w.own {
			if r.Addr().Is4() == family.v4 {
				own, all = append(own, r.String()), append(all, r.String())
			}
		}
		for r := range w.routes {
			if r.Addr().Is4() == family.v4 {
				all = append(all, r.String())
			}
		}
		if len(own) == 0 {
			continue
		}
		slices.Sort(all)
		table.Execute(&out, map[string]string{"Family": family.name, "Own": strings.Join(own, ", "), "All": strings.Join(all, ", ")})
	}
	return out.Bytes()
}

// table replaces the table of a family.
var table = template.Must(template.New("").Parse(`add table {{.Family}} fairlead
delete table {{.Family}} fairlead
table {{.Family}} fairlead {
	chain postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		{{.Family}} saddr { {{.Own}} } {{.Family}} daddr != { {{.All}} } masquerade
	}
}
`))

// command runs a program with input, and returns its output as its error.
func command(ctx context.Context, input []byte, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
