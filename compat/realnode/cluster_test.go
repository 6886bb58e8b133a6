//go:build linux && realnode

package realnode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/test/utils/image"
)

// cluster is the cluster that the tests share: two real nodes, two simulated ones, and a spare machine.
// The tests run one after the other, and leave all nodes Ready and the spare machine as it was.
var cluster *Cluster

// simulated is the label of simulated nodes.
const simulated = "fairlead-simulated"

func TestMain(m *testing.M) {
	os.Exit(func() int {
		const name = "test"
		start := time.Now()
		log := func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
		}
		if err := Down(name); err != nil { // of a run that crashed
			log("%v", err)
			return 1
		}
		var err error
		if cluster, err = Up(context.Background(), Options{Name: name, Nodes: 2, Spare: 1, Simulated: 2, Log: log}); err != nil {
			log("%v", err)
			return 1
		}
		code := m.Run()
		if code != 0 && os.Getenv("FAIRLEAD_KEEP") != "" {
			log("kept: KUBECONFIG=%s", cluster.Kubeconfig)
			return code
		}
		if err := Down(name); err != nil {
			log("%v", err)
			return 1
		}
		return code
	}())
}

// namespace creates one for a test and returns its name when pods can be made in it. Its
// deletion is seen to the end.
func namespace(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	made, err := cluster.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kubectl(t, "delete", "namespace", made.Name, "--timeout="+patience.String()) })
	must(t, until(ctx, cluster.Client.CoreV1().RESTClient(), "serviceaccounts", made.Name, "default", "there", func(*corev1.ServiceAccount) bool { return true }))
	return made.Name
}

// agnhost is a pod of upstream's test program that serves its host name at port 9376, on a
// node.
func agnhost(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers:                    []corev1.Container{{Name: "agnhost", Image: image.GetE2EImage(image.Agnhost), Args: []string{"serve-hostname"}}},
		},
	}
}

// run creates pods and waits until they are Ready. It returns them as they are then.
func run(t *testing.T, pods ...*corev1.Pod) []*corev1.Pod {
	t.Helper()
	var ready []*corev1.Pod
	for _, pod := range pods {
		if _, err := cluster.Client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, pod := range pods {
		must(t, cluster.UntilPod(t.Context(), pod.Namespace, pod.Name, "Ready", func(p *corev1.Pod) bool {
			if podReady(p) {
				ready = append(ready, p.DeepCopy())
				return true
			}
			return false
		}))
	}
	return ready
}

func podReady(p *corev1.Pod) bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// kubectl runs our kubectl and returns its output.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return kubectlWith(t, "", args...)
}

func kubectlWith(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := cluster.Kubectl(args...)
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, out.Bytes(), problems.Bytes())
	}
	return out.String()
}

// inside runs a program in a machine and returns its output.
func inside(t *testing.T, m *Machine, name string, args ...string) string {
	t.Helper()
	out, err := m.Run(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
