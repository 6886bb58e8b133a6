package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/internal/port"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// smallDisk mounts a file system of some MiB. It needs root.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", size)); err != nil {
		t.Skipf("NOT TESTED: a full disk needs a file system of its own, and this user may not mount one: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestFullDisk fills the disk under a server. The server reports it at once, keeps serving
// reads, and accepts writes again when there is room, in the same process, with all
// acknowledged writes.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 40)
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, "server", "--data-dir", filepath.Join(disk, "data"), "--listen", free[0])
	api := p.clientset()
	maps := api.CoreV1().ConfigMaps("default")

	var acknowledged []string
	noise := make([]byte, 200<<10)
	for i := 0; ; i++ {
		rand.Read(noise) // random bytes do not compress
		name := fmt.Sprint("cm-", i)
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, BinaryData: map[string][]byte{"x": noise}}, metav1.CreateOptions{})
		if err != nil {
			break
		}
		if acknowledged = append(acknowledged, name); i > 1000 {
			t.Fatal("the disk never was full")
		}
	}
	eventually(t, "the line that says so", func() bool {
		return strings.Contains(p.stderr.String(), "is full: nothing is written") && strings.Contains(p.stderr.String(), filepath.Join(disk, "data", "store"))
	})
	if _, err := maps.Get(t.Context(), acknowledged[0], metav1.GetOptions{}); err != nil {
		t.Errorf("a read while the disk is full: %v", err)
	}
	if text := metricsOf(t, api); !strings.Contains(text, "\nfairlead_store_failed 1\n") {
		t.Errorf("the metric does not show the failure")
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a write", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "again-"}}, metav1.CreateOptions{})
		return err == nil
	})
	for _, name := range acknowledged {
		if _, err := maps.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("acknowledged and lost: %v", err)
		}
	}
	if text := metricsOf(t, api); !strings.Contains(text, "\nfairlead_store_failed 0\n") {
		t.Errorf("the metric still shows the failure")
	}
	p.stop()
}

func metricsOf(t *testing.T, api kubernetes.Interface) string {
	t.Helper()
	b, err := api.CoreV1().RESTClient().(*rest.RESTClient).Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
