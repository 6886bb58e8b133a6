package tokencleaner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/cluster-bootstrap/token/jws"

	"fairlead.dev/testenv"
)

// TestTokens: cluster-info is signed with each token that signs; an expired token is deleted, and its signature with it.
func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, Controllers: []string{"tokencleaner", "bootstrapsigner"}})
		core := kubernetes.NewForConfigOrDie(env.Config()).CoreV1()
		create := func(id string, data map[string]string) {
			t.Helper()
			all := map[string]string{"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true"}
			maps.Copy(all, data)
			_, err := core.Secrets("kube-system").Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-" + id}, Type: "bootstrap.kubernetes.io/token", StringData: all,
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		create("stays0", nil)
		create("ends00", map[string]string{"expiration": time.Now().Add(time.Hour).Format(time.RFC3339)})
		create("silent", map[string]string{"usage-bootstrap-signing": "false"})
		create("words0", map[string]string{"expiration": "tomorrow"})
		const content = "apiVersion: v1\nkind: Config\n"
		_, err := core.ConfigMaps("kube-public").Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster-info"}, Data: map[string]string{"kubeconfig": content, "jws-kubeconfig-former": "x"},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}

		check := func(when string, want ...string) {
			t.Helper()
			time.Sleep(time.Second)
			m, err := core.ConfigMaps("kube-public").Get(t.Context(), "cluster-info", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if keys := slices.Sorted(maps.Keys(m.Data)); !slices.Equal(keys, append(want, "kubeconfig")) {
				t.Errorf("%s cluster-info has %q", when, keys)
			}
			for _, key := range want {
				if id := strings.TrimPrefix(key, "jws-kubeconfig-"); !jws.DetachedTokenIsValid(m.Data[key], content, id, "0123456789abcdef") {
					t.Errorf("%s the signature of %s is not valid: %s", when, id, m.Data[key])
				}
			}
		}
		check("at first", "jws-kubeconfig-ends00", "jws-kubeconfig-stays0")
		if _, err := core.Secrets("kube-system").Get(t.Context(), "bootstrap-token-words0", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a token whose expiration is no time: %v", err)
		}
		time.Sleep(time.Hour)
		check("after an hour", "jws-kubeconfig-stays0")
		if _, err := core.Secrets("kube-system").Get(t.Context(), "bootstrap-token-ends00", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the expired token: %v", err)
		}
		for _, id := range []string{"stays0", "silent"} {
			if _, err := core.Secrets("kube-system").Get(t.Context(), "bootstrap-token-"+id, metav1.GetOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
}
