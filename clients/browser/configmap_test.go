package browser

import (
	"testing"

	"fairlead.dev/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createConfigMap creates a ConfigMap.
func (b *fixture) createConfigMap(t *testing.T, name string) {
	t.Helper()
	maps := client.For[*corev1.ConfigMap](b.client).Namespace("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}
