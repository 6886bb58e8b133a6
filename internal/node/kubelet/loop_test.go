package kubelet_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// TestLoop: a container whose command never ends runs on, and writes at its pace; its
// oldest output is dropped.
func TestLoop(t *testing.T) {
	w := start(t)
	loop := func(script string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever // which would end others
			p.Spec.Containers[0].Command = []string{"sh", "-c", script}
		}
	}
	w.run(t, "ticks", loop("echo begin; while true; do echo tick; sleep 0.2; done"))
	w.run(t, "hurries", loop("while true; do echo a; echo b; sleep 0.00001; done"))
	for _, name := range []string{"ticks", "hurries"} {
		await(t, w.pods, name, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	}
	c, err := rest.HTTPClientFor(w.env.Config())
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"ticks/log?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for _, want := range []string{"begin", "tick", "tick", "tick", "tick", "tick"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %q, %v", lines.Text(), want, lines.Err())
		}
	}
	for {
		code, body := w.get(t, "hurries/log")
		if code != 200 || !strings.HasPrefix(body, "a\nb\n") {
			t.Fatalf("%d %.20q", code, body)
		}
		if n := strings.Count(body, "\n"); n > 11_000 {
			t.Fatalf("%d lines are kept", n)
		} else if n > 10_000 {
			break
		}
	}
	if p := await(t, w.pods, "ticks", func(*corev1.Pod) bool { return true }); p.Status.Phase != corev1.PodRunning {
		t.Errorf("it is %s", p.Status.Phase)
	}
	if err := w.pods.Delete(t.Context(), "ticks"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until the container has ended
		if lines.Text() != "tick" {
			t.Fatalf("%q", lines.Text())
		}
	}
}
