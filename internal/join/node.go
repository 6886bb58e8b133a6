package join

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// Part is a program that a node runs.
type Part struct {
	// Program is the file; "" if it is not to run.
	Program string
	// Settings are merged over its configuration, member by member of the first level.
	Settings map[string]any
	// Args are appended to its command line.
	Args []string
}

// Node is a node that joins or has joined.
type Node struct {
	Name    string
	Cluster Cluster
	// Token is the bootstrap token; "" for a machine that has joined.
	Token string
	// Address is the node's IP address; the zero value lets the kubelet find it.
	Address netip.Addr
	// Labels and Taints register the node with them, in the form of the kubelet's flags.
	Labels, Taints string
	// Runtime is the CRI endpoint.
	Runtime string
	// ClusterKubelet is the cluster's KubeletConfiguration.
	ClusterKubelet map[string]any
	Kubelet, Proxy Part
	// PodRanges are the ranges of the node's pods; nil waits for spec.podCIDRs of the Node. OwnCNI leaves the network of
	// pods to a CNI configuration of the operator.
	PodRanges []netip.Prefix
	OwnCNI    bool
	// LogFolder is where the logs of the programs are appended.
	LogFolder string
	// Progress is called for each step.
	Progress func(what, detail string)
}

// Commands returns the command lines of the node's programs.
func (n *Node) Commands() [][]string {
	kubelet := []string{n.Kubelet.Program, "--config=" + kubeletConfigFile, "--kubeconfig=" + kubeletFile, "--bootstrap-kubeconfig=" + bootstrapFile, "--hostname-override=" + n.Name}
	if n.Address.IsValid() {
		kubelet = append(kubelet, "--node-ip="+n.Address.String())
	}
	if n.Labels != "" {
		kubelet = append(kubelet, "--node-labels="+n.Labels)
	}
	if n.Taints != "" {
		kubelet = append(kubelet, "--register-with-taints="+n.Taints)
	}
	commands := [][]string{append(kubelet, n.Kubelet.Args...)}
	if n.Proxy.Program != "" {
		commands = append(commands, append([]string{n.Proxy.Program, "--config=" + proxyConfigFile}, n.Proxy.Args...))
	}
	return commands
}

// Run writes the files, runs the programs and keeps the network of pods, until ctx ends or a program does. Containers go on.
func (n *Node) Run(ctx context.Context) error {
	files, err := n.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
	}
	n.Progress("Files", kubeletConfigFile+" and others")
	commands := n.Commands()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.run(ctx, "kubelet", commands[0]) })
	g.Go(func() error {
		if err := n.follow(ctx, commands[1:], g); ctx.Err() == nil {
			return err
		}
		return nil
	})
	return g.Wait()
}

// follow runs the parts that need the kubelet's certificate.
func (n *Node) follow(ctx context.Context, proxy [][]string, g *errgroup.Group) error {
	if err := awaitFile(ctx, certificateFile); err != nil {
		return err
	}
	n.Progress("Certificate", certificateFile)
	for _, command := range proxy {
		g.Go(func() error { return n.run(ctx, "kube-proxy", command) })
	}
	c, err := n.Cluster.Client("")
	if err != nil {
		return err
	}
	nodes := client.For[*corev1.Node](c)
	if !n.OwnCNI {
		g.Go(func() error { return n.keepNetwork(ctx, nodes) })
	}
	return n.announce(ctx, nodes)
}

// announce reports when the node is Ready, and when it is not any more.
func (n *Node) announce(ctx context.Context, nodes client.Resource[*corev1.Node]) error {
	var last string
	own := informer.New(nodes, informer.Options[*corev1.Node]{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, n.Name).String()})
	say := func(node *corev1.Node) {
		i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
		if i < 0 {
			return
		}
		ready := node.Status.Conditions[i]
		text := "Ready, kubelet " + node.Status.NodeInfo.KubeletVersion
		if ready.Status != corev1.ConditionTrue {
			text = "not Ready: " + ready.Message
		}
		if text != last {
			n.Progress("Node "+n.Name, text)
		}
		last = text
	}
	own.Handle(informer.Handler[*corev1.Node]{Add: func(node *corev1.Node, _ bool) { say(node) }, Update: func(_, node *corev1.Node) { say(node) }})
	return own.Run(ctx)
}

// poll is how often a file is looked for that another program writes.
const poll = 200 * time.Millisecond

// awaitFile returns when a file exists.
func awaitFile(ctx context.Context, path string) error {
	for {
		_, err := os.Stat(path)
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ParseRanges parses ranges of pod addresses, separated by commas.
func ParseRanges(text string) (ranges []netip.Prefix, err error) {
	for part := range strings.SplitSeq(text, ",") {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("--pod-cidr=%s: want ranges such as 10.244.1.0/24", text)
		}
		ranges = append(ranges, p.Masked())
	}
	return ranges, nil
}
