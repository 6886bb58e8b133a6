package server_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

const configMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}`

func TestSmoke(t *testing.T) {
	c := start(t)
	a := c.must("POST /api/v1/namespaces/default/configmaps", configMap)
	t.Log(a.code, a.header, a.body)
	a = c.must("GET /api/v1/namespaces/default/configmaps/a", "")
	t.Log(a.body)
	a = c.must("GET /api/v1/configmaps", "")
	t.Log(a.body)
	a = c.must("GET /api/v1/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true", "")
	t.Log(a.body)
	a = c.must("GET /api/v1/configmaps", "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	t.Log(a.body)
	a = c.must("DELETE /api/v1/namespaces/default/configmaps/a", "")
	t.Log(a.body)
	for _, h := range []string{"GET /api/v1/namespaces/default/configmaps/a", "GET /foo", "GET /api/v1/foos", "PUT /api/v1/pods", "GET /readyz?verbose", "GET /version", "GET /api/v1/pods?fieldSelector=a%3Db"} {
		a = c.do(h, "")
		t.Log(h, a.code, a.body)
	}
	k := c.typed()
	cm, err := k.CoreV1().ConfigMaps("default").Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "b-"}}, metav1.CreateOptions{})
	t.Log(cm, err)
}
