package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/nodekind"
	"fairlead.dev/node"
)

// scaleWriters is how many Nodes are created or deleted at a time.
const scaleWriters = 16

// nodeScale scales the simulated nodes whose names are a prefix and a number from 1 on.
type nodeScale struct {
	nodes    client.Resource[*corev1.Node]
	prefix   string
	want     int
	template *corev1.Node
	p        *progress
}

func newNodesScale() *cobra.Command {
	var from target
	var prefix, template string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "scale N",
		Short: "Give a running server N simulated nodes: node-1 to node-N",
		Long: `Scale creates the Nodes PREFIX1 to PREFIXN that do not exist, deletes those with higher numbers,
and waits until all are Ready. The process that simulates nodes (fairlead up or fairlead nodes)
does so for each Node that is marked as simulated. Pods of deleted Nodes are deleted too: drain
a node first if that matters. The Nodes stay as they are when the server starts again.`,
		Example: `  fairlead nodes scale 100

  # Five nodes of another kind beside them
  fairlead nodes scale 5 --prefix=gpu- --node-template=gpu-node.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("nodes scale takes the number of nodes, such as: fairlead nodes scale 10")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s := nodeScale{prefix: prefix, p: newProgress(os.Stderr)}
			var err error
			if s.want, err = strconv.Atoi(args[0]); err != nil || s.want < 0 {
				return usageError{fmt.Errorf("%s: want the number of nodes, 0 or more", args[0])}
			}
			if errs := validation.IsDNS1123Subdomain(prefix + "1"); len(errs) > 0 {
				return usageError{fmt.Errorf("--prefix=%s: %s", prefix, errs[0])}
			}
			if template != "" {
				if s.template, err = node.LoadTemplate(template); err != nil {
					return usageError{fmt.Errorf("--node-template: %w", err)}
				}
			}
			config, _, err := from.load()
			if err != nil {
				return err
			}
			c, err := client.New(config, client.Options{UserAgent: "fairlead-nodes-scale"})
			if err != nil {
				return err
			}
			s.nodes = client.For[*corev1.Node](c)
			ctx, stop := context.WithTimeout(cmd.Context(), timeout)
			defer stop()
			return s.run(ctx)
		},
	}
	from.register(cmd, cmd.Flags())
	cmd.Flags().StringVar(&prefix, "prefix", "node-", "beginning of the nodes' names, before their number")
	cmd.Flags().StringVar(&template, "node-template", "", "file with a Node: labels, annotations, taints, and status (capacity, allocatable, nodeInfo) of the nodes that are created, and their KubeletConfiguration and Machine (default those of the process that simulates them)")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Minute, "how long to wait until the nodes are Ready")
	return cmd
}

// number returns the number in a name; 0 for a name without one.
func (s nodeScale) number(name string) int {
	digits, ok := strings.CutPrefix(name, s.prefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

func (s nodeScale) run(ctx context.Context) error {
	list, err := s.nodes.List(ctx)
	if err != nil {
		return err
	}
	missing := map[int]bool{}
	for i := range s.want {
		missing[i+1] = true
	}
	var surplus []*corev1.Node
	for _, n := range list.Items {
		number := s.number(n.Name)
		switch {
		case number == 0:
		case !nodekind.IsSimulated(n):
			return fmt.Errorf("the node %s is not simulated: choose other names with --prefix", n.Name)
		case number > s.want:
			surplus = append(surplus, n)
		default:
			delete(missing, number)
		}
	}
	if err := s.create(ctx, missing); err != nil {
		return err
	}
	if err := s.delete(ctx, surplus); err != nil {
		return err
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	s.p.step("Nodes", fmt.Sprintf("%d simulated: %d created, %d deleted", s.want, len(missing), len(surplus)))
	return nil
}

// each calls do for all items, some at a time, and shows the progress of what the verb names.
func each[T any](ctx context.Context, p *progress, verb string, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(scaleWriters)
	var mu sync.Mutex
	var done int64
	count := p.meter(verb, "nodes").at
	for _, item := range items {
		group.Go(func() error {
			if err := do(ctx, item); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			count(done, int64(len(items)))
			return nil
		})
	}
	return group.Wait()
}

func (s nodeScale) create(ctx context.Context, missing map[int]bool) error {
	var numbers []int
	for n := range missing {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return each(ctx, s.p, "Creating", numbers, func(ctx context.Context, number int) error {
		n := &corev1.Node{}
		if s.template != nil {
			n = s.template.DeepCopy()
		}
		name := s.prefix + strconv.Itoa(number)
		n.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: n.Labels, Annotations: n.Annotations}
		if n.Labels[corev1.LabelHostname] != "" {
			n.Labels[corev1.LabelHostname] = name
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[nodekind.Simulated] = "true"
		n.Spec.PodCIDR, n.Spec.PodCIDRs = "", nil
		n.Status.Conditions, n.Status.Addresses = nil, nil
		_, err := s.nodes.Create(ctx, n)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func (s nodeScale) delete(ctx context.Context, surplus []*corev1.Node) error {
	return each(ctx, s.p, "Deleting", surplus, func(ctx context.Context, n *corev1.Node) error {
		return client.IgnoreNotFound(s.nodes.Delete(ctx, n.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(n.UID))}))
	})
}

// wait waits until all nodes are Ready and no more of them exist.
func (s nodeScale) wait(ctx context.Context) error {
	ready, surplus := map[int]bool{}, map[int]bool{}
	count := s.p.meter("Awaiting", "Ready nodes").at
	err := s.follow(ctx, func(n *corev1.Node, deleted bool) bool {
		number := s.number(n.Name)
		switch {
		case number == 0:
		case number > s.want:
			surplus[number] = true
			if deleted {
				delete(surplus, number)
			}
		case isReadyNode(n) && !deleted:
			ready[number] = true
		default:
			delete(ready, number)
		}
		count(int64(len(ready)), int64(s.want))
		return len(ready) == s.want && len(surplus) == 0
	})
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() == context.DeadlineExceeded {
		if len(surplus) > 0 {
			return fmt.Errorf("%d deleted nodes still exist: see their finalizers", len(surplus))
		}
		return fmt.Errorf("%d of %d nodes are Ready: does a process simulate them? `fairlead up` does unless it runs with --nodes=0 or --adopt-nodes=false", len(ready), s.want)
	}
	return err
}

// follow passes all Nodes and their changes to seen, until it returns true.
func (s nodeScale) follow(ctx context.Context, seen func(n *corev1.Node, deleted bool) bool) error {
	for {
		list, err := s.nodes.List(ctx)
		if err != nil {
			return err
		}
		over := s.want == 0
		for _, n := range list.Items {
			over = seen(n, false)
		}
		if over {
			return nil
		}
		w, err := s.nodes.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			return err
		}
		for {
			ev, err := w.Next(ctx)
			if err != nil {
				w.Stop()
				if ctx.Err() != nil {
					return ctx.Err()
				}
				break // list again
			}
			if seen(ev.Object, ev.Type == watch.Deleted) {
				w.Stop()
				return nil
			}
		}
	}
}

func isReadyNode(n *corev1.Node) bool {
	c := condition.Find(n.Status.Conditions, func(c *corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return c != nil && c.Status == corev1.ConditionTrue
}
