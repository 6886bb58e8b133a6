package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
)

// fillServer makes the pods of the largest first list, which have the specification of
// those on the tape and no kubelet. The server must not require service accounts
// (--disable-admission-plugins=ServiceAccount), since no controller creates them.
func fillServer(ctx context.Context, s sizes) error {
	cfg, err := clientcmd.RESTConfigFromKubeConfig([]byte(s.config))
	if err != nil {
		return err
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return err
	}
	for n := range 20 {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: podSpace(n)}}
		if _, err := client.For[*corev1.Namespace](c).Create(ctx, ns); err != nil && !errors.Is(err, client.ErrAlreadyExists) {
			return err
		}
	}
	numbers := make(chan int)
	failed := make(chan error, 1)
	var makers sync.WaitGroup
	for range 16 {
		makers.Go(func() {
			for n := range numbers {
				if _, err := client.For[*corev1.Pod](c).Namespace(podSpace(n)).Create(ctx, emptyPod(n)); err != nil && !errors.Is(err, client.ErrAlreadyExists) {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for n := range s.pods[len(s.pods)-1] {
		numbers <- n
	}
	close(numbers)
	makers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// emptyPod is pod n as its controller makes it.
func emptyPod(n int) *corev1.Pod {
	p := templatePod()
	app := fmt.Sprintf("app-%04d", n%50)
	p.ObjectMeta = metav1.ObjectMeta{Name: podName(n), Namespace: podSpace(n), GenerateName: app + "-7d4b9c6f5-", Annotations: p.Annotations,
		Labels: map[string]string{"app": app, "pod-template-hash": "7d4b9c6f5", "tier": "frontend", "app.kubernetes.io/managed-by": "Helm"}}
	p.Status = corev1.PodStatus{}
	p.Spec.NodeName, p.Spec.Priority, p.Spec.PreemptionPolicy = nodeName(n), nil, nil
	volume := fmt.Sprintf("kube-api-access-%08d", n)
	p.Spec.Volumes[0].Name, p.Spec.Containers[0].VolumeMounts[0].Name = volume, volume
	p.Spec.Containers[0].Image = "registry.example.com/shop/" + app + ":1.27.3"
	return p
}
