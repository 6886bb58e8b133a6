package controlplane_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// The test binary is also etcdctl: the real program's code, with its own arguments.
const etcdctlEnv = "FAIRLEAD_TEST_ETCDCTL"

func TestMain(m *testing.M) {
	if os.Getenv(etcdctlEnv) != "" {
		ctlv3.MustStart()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestWatchWithEtcdctl: a replication controller is scaled through the API, and `etcdctl
// watch` of its key shows the write.
func TestWatchWithEtcdctl(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{
		EtcdListen:  "127.0.0.1:0",
		Controllers: []string{"replicationcontroller"},
	})
	api := controlplanetest.Clientset(t, cp)
	one := int32(1)
	labels := map[string]string{"app": "redis"}
	_, err := api.CoreV1().ReplicationControllers("default").Create(t.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "redis"},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: &one, Selector: labels,
			Template: &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "redis", Image: "redis"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	// From revision 1 on, so that the order of watch and write does not matter.
	watch := exec.CommandContext(t.Context(), os.Args[0], "--endpoints="+cp.EtcdURL(), "watch", "/registry/controllers/default/redis", "--rev=1")
	watch.Env = append(os.Environ(), etcdctlEnv+"=1")
	watch.Stderr = os.Stderr
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { watch.Process.Kill(); watch.Wait() }()
	_, err = api.CoreV1().ReplicationControllers("default").UpdateScale(t.Context(), "redis", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "redis", Namespace: "default"}, Spec: autoscalingv1.ScaleSpec{Replicas: 2},
	}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "{") {
			continue // PUT, and the key
		}
		var rc corev1.ReplicationController
		if err := json.Unmarshal(lines.Bytes(), &rc); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		if rc.Name == "redis" && rc.Kind == "ReplicationController" && *rc.Spec.Replicas == 2 {
			return
		}
	}
	t.Fatalf("etcdctl ended and never showed two replicas: %v", lines.Err())
}
