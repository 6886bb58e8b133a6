package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type demoFlags struct {
	replicas int32
	output   string
}

func newDemo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Scale a Deployment in a control plane of its own, and show every event that this causes",
		Long: `Demo starts a control plane in memory, makes a Deployment, scales it, and prints the
life of that one write: hop by hop through the store and the watch cache to the watchers,
and then every event that it caused, down to the last running pod. Then it ends, and
leaves no files behind.`,
		Example: `  fairlead demo
  fairlead demo --replicas=20
  fairlead demo -o json | jq .resource`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.replicas < 1 || f.replicas > 1000:
				return usageError{fmt.Errorf("--replicas=%d: want 1 to 1000", f.replicas)}
			case f.output != "" && f.output != "json" && f.output != "otlp":
				return usageError{fmt.Errorf("-o %s: want json or otlp", f.output)}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().Int32Var(&f.replicas, "replicas", 4, "number of replicas to scale to, from 0")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "output format: json (one event per line) or otlp (spans for an OpenTelemetry collector)")
	return cmd
}

// run starts the control plane, makes the write and prints its effects.
func (f *demoFlags) run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "fairlead-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProgress(os.Stderr)
	lives := trace.New(trace.Options{})
	cp, err := controlplane.Start(ctx, controlplane.Options{
		DataDir: dir, InMemory: true, Listen: "127.0.0.1:0", Controllers: []string{"*"}, Scheduler: true, Nodes: 3, Trace: lives,
	})
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := cp.Stop(); err == nil {
			err = stopErr
		}
	}()
	p.step("Started", "a control plane in memory, with 3 simulated nodes")
	c, err := client.New(cp.Config(), client.Options{UserAgent: "fairlead-demo"})
	if err != nil {
		return err
	}
	root, err := f.scaleDeployment(ctx, c, p)
	if err != nil {
		return err
	}
	all, err := settledTree(ctx, c, root)
	if err != nil {
		return err
	}
	return f.printEvents(out, all)
}

// scaleDeployment makes a Deployment, scales it, and waits until all of it runs. It returns the
// revision of the scaling.
func (f *demoFlags) scaleDeployment(ctx context.Context, c *client.Client, p *progress) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	none := int32(0)
	made, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &none,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	})
	if err != nil {
		return 0, err
	}
	w, err := deployments.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web", ResourceVersion: made.ResourceVersion})
	if err != nil {
		return 0, err
	}
	defer w.Stop()
	if err := awaitDeployment(ctx, w, func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration == d.Generation }); err != nil {
		return 0, err
	}
	if _, err := settledTree(ctx, c, trace.Revision(made.ResourceVersion)); err != nil { // so that only one write's effects are printed
		return 0, err
	}
	p.step("Created", "deployment web, with 0 replicas")
	scaled, err := deployments.PatchScale(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": f.replicas}}))
	if err != nil {
		return 0, err
	}
	p.step("Scaled", fmt.Sprintf("deployment web to %d: revision %s", f.replicas, scaled.ResourceVersion))
	if err := awaitDeployment(ctx, w, func(d *appsv1.Deployment) bool {
		return d.Status.AvailableReplicas == f.replicas && d.Status.ObservedGeneration == d.Generation
	}); err != nil {
		return 0, err
	}
	p.step("Running", fmt.Sprintf("all %d replicas", f.replicas))
	return trace.Revision(scaled.ResourceVersion), nil
}

// awaitDeployment reads the events of a watch of one Deployment until it is as wanted.
func awaitDeployment(ctx context.Context, w *client.Watch[*appsv1.Deployment], done func(*appsv1.Deployment) bool) error {
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return fmt.Errorf("waiting for deployment web: %w", err)
		}
		if done(ev.Object) {
			return nil
		}
	}
}

// printEvents prints the events.
func (f *demoFlags) printEvents(out io.Writer, all []show.Event) error {
	switch {
	case len(all) == 0:
		return fmt.Errorf("the trace has no event of the scaling")
	case f.output != "":
		return printForMachines(out, f.output, all)
	}
	palette := palette(out)
	fmt.Fprint(out, "\nThe write, hop by hop, with the watchers and controllers that received it:\n\n")
	if err := show.Waterfall(out, all[0], palette, columns(out)); err != nil {
		return err
	}
	fmt.Fprint(out, "\nThe events that it caused:\n\n")
	if err := show.Tree(out, all, palette, columns(out)); err != nil {
		return err
	}
	last := all[0]
	for _, e := range all {
		if e.Began.Add(e.Duration()).After(last.Began.Add(last.Duration())) {
			last = e
		}
	}
	_, err := fmt.Fprintf(out, "\nOne write caused %d events in %.0f ms.\n", len(all)-1, last.Began.Add(last.Duration()).Sub(all[0].Began).Seconds()*1000)
	return err
}
