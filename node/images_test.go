package node_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/node"
	"fairlead.dev/testenv"
)

// TestImageBehaviors: containers are pulled once for each node, and run and end as the behaviors of their images declare.
func TestImageBehaviors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.yaml")
	if err := os.WriteFile(path, []byte(`
apiVersion: config.fairlead.dev/v1alpha1
kind: ImageBehaviors
images:
- image: train
  size: 12Gi
  pullTime: 20ms
  startTime: 10ms
  runTime: 30ms
- image: leak
  runTime: 5ms
  exits: [{code: 137, reason: OOMKilled}]
- image: fail
  runTime: forever
`), 0o600); err != nil {
		t.Fatal(err)
	}
	behaviors, err := images.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	env := served(t)
	start(t, env, node.Options{Count: 1, Definitions: &kwok.Definitions{Images: behaviors}})
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	create := func(name, image string, policy corev1.RestartPolicy) {
		t.Helper()
		p := boundPod(name, "node-1", "")
		p.Spec.Containers[0].Image, p.Spec.RestartPolicy = image, policy
		if _, err := pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	succeeded := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded }

	create("first", "train:1", corev1.RestartPolicyNever)
	event(t, env, "first", "Pulling", `Pulling image "train:1"`)
	event(t, env, "first", "Pulled", `Successfully pulled image "train:1" in 20ms (20ms including waiting). Image size: 12884901888 bytes.`)
	await(t, pods, "first", "succeeded", succeeded)
	create("second", "train:1", corev1.RestartPolicyNever)
	await(t, pods, "second", "succeeded", succeeded)
	events, err := client.For[*corev1.Event](env.Client).Namespace("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=second,reason=Pulling"})
	if err != nil || len(events.Items) > 0 {
		t.Errorf("an image that the node has is pulled again: %v, %v", events.Items, err)
	}

	create("leak", "leak", corev1.RestartPolicyOnFailure)
	await(t, pods, "leak", "restarted after it was killed", func(p *corev1.Pod) bool {
		if len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		c := p.Status.ContainerStatuses[0]
		last := c.LastTerminationState.Terminated
		return last != nil && last.ExitCode == 137 && last.Reason == "OOMKilled"
	})

	create("endless", "fail", corev1.RestartPolicyNever) // not what its name asks for
	await(t, pods, "endless", "running", running)
}

// TestImagesAfterRestart: a node that is started again has the images that it reported before, also those of pods that are gone. It
// does not report a status again that is right, before it is due.
func TestImagesAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testenv.New(t, testenv.Options{Bubble: true, Controllers: []string{"serviceaccount"}, NoScheduler: true, NoNodes: true}).Client(t)
		recorder := client.NewRecorder(c, "kubelet")
		defer recorder.Close()
		env := controller.Env{Client: c, Recorder: recorder, Log: slog.New(slog.DiscardHandler)}
		nodes, pods := client.For[*corev1.Node](c), client.For[*corev1.Pod](c).Namespace("default")
		create := func(name, image string) {
			t.Helper()
			p := boundPod(name, "node-1", "")
			p.Spec.Containers[0].Image = image
			if _, err := pods.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Second)
		}
		reported := func() (names []string, revision string) {
			t.Helper()
			n, err := nodes.Get(t.Context(), "node-1")
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range n.Status.Images {
				names = append(names, i.Names[len(i.Names)-1])
			}
			slices.Sort(names)
			return names, n.ResourceVersion
		}
		time.Sleep(time.Second)
		stop := start(t, env, node.Options{Count: 1})
		create("stays", "nginx:1.27")
		create("ends", "redis:7")
		if err := pods.Delete(t.Context(), "ends", *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
		_, before := reported()
		stop()

		stop = start(t, env, node.Options{Count: 1})
		time.Sleep(31 * time.Second)
		if names, now := reported(); now != before || !slices.Equal(names, []string{"nginx:1.27", "redis:7"}) {
			t.Errorf("at %s it reports %v, before the restart at %s", now, names, before)
		}
		create("new", "postgres:18")
		if names, _ := reported(); !slices.Equal(names, []string{"nginx:1.27", "postgres:18", "redis:7"}) {
			t.Errorf("then it reports %v", names)
		}

		stop()
		_, before = reported()
		time.Sleep(6 * time.Minute)
		stop = start(t, env, node.Options{Count: 1})
		defer stop()
		time.Sleep(time.Second)
		if _, now := reported(); now == before {
			t.Errorf("it has not reported since %s, though that is due", before)
		}
	})
}
