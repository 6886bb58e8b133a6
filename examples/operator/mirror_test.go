package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// start returns a control plane with the operator's kind, and its webhooks served.
func start(t *testing.T) (*testenv.Env, client.Resource[*Mirror]) {
	t.Helper()
	env := testenv.New(t, testenv.Options{
		NoNodes:  true,
		CRDs:     testenv.Objects{Paths: []string{"config"}},
		Webhooks: testenv.Objects{Paths: []string{"config"}},
	})
	at := env.Webhooks()
	l, err := net.Listen("tcp", net.JoinHostPort(at.Host, fmt.Sprint(at.Port)))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: webhooks()}
	go srv.ServeTLS(l, filepath.Join(at.CertDir, "tls.crt"), filepath.Join(at.CertDir, "tls.key"))
	t.Cleanup(func() { srv.Close() })
	types, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(env.Config(), client.Options{Scheme: types})
	if err != nil {
		t.Fatal(err)
	}
	return env, client.For[*Mirror](c).Namespace("default")
}

func mirror(name string, spec MirrorSpec) *Mirror {
	m := &Mirror{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: spec}
	m.SetGroupVersionKind(kind)
	return m
}

// The operator against a whole control plane: it copies, follows changes, and the garbage collector, which no fake has,
// takes the copy away with its Mirror.
func TestMirror(t *testing.T) {
	env, mirrors := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	m, err := newOperator(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	maps := client.For[*corev1.ConfigMap](env.Client(t)).Namespace("default")
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "source"}, Data: map[string]string{"key": "one"}}
	if source, err = maps.Create(ctx, source); err != nil {
		t.Fatal(err)
	}
	if _, err := mirrors.Create(ctx, mirror("copy", MirrorSpec{ConfigMap: "source"})); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "source", Namespace: "default"}}
	env.WaitFor(t, secret, func() bool { return string(secret.Data["key"]) == "one" })
	source.Data["key"] = "two"
	if _, err := maps.Update(ctx, source); err != nil {
		t.Fatal(err)
	}
	env.WaitFor(t, secret, func() bool { return string(secret.Data["key"]) == "two" })
	if err := mirrors.Delete(ctx, "copy", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	env.WaitGone(t, secret)
}

func TestDefaultingWebhook(t *testing.T) {
	_, mirrors := start(t)
	for _, c := range []struct{ given, want string }{{"", "source"}, {"other", "other"}} {
		m, err := mirrors.Create(t.Context(), mirror("mirror-"+c.want, MirrorSpec{ConfigMap: "source", Secret: c.given}))
		if err != nil {
			t.Fatal(err)
		}
		if m.Spec.Secret != c.want {
			t.Errorf("secret %q became %q, want %q", c.given, m.Spec.Secret, c.want)
		}
	}
}

func TestValidatingWebhook(t *testing.T) {
	_, mirrors := start(t)
	if _, err := mirrors.Create(t.Context(), mirror("wrong", MirrorSpec{ConfigMap: "source", Secret: "No Name"})); err == nil || !strings.Contains(err.Error(), "spec.secret: a lowercase RFC 1123 subdomain") {
		t.Errorf("an invalid name: %v", err)
	}
	m, err := mirrors.Create(t.Context(), mirror("right", MirrorSpec{ConfigMap: "source"}))
	if err != nil {
		t.Fatal(err)
	}
	m.Spec.Secret = "another"
	if _, err := mirrors.Update(t.Context(), m); err == nil || !strings.Contains(err.Error(), `it is "source" and cannot be changed`) {
		t.Errorf("another name: %v", err)
	}
}
