package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plain schedules pods without claims.
func plain(ctx context.Context, b *bench) ([]figure, error) {
	return b.scheduled(ctx, "plain", b.Plain, false)
}

// claims schedules pods that have a claim for one device each.
func claims(ctx context.Context, b *bench) ([]figure, error) {
	return b.scheduled(ctx, "claims", b.Claims, true)
}

// scheduled creates n pods in a namespace of their own and waits until all have nodes. The CPU of the scheduler, and that of the server,
// counts until a second later.
func (b *bench) scheduled(ctx context.Context, row string, n int, claim bool) ([]figure, error) {
	if err := b.newNamespace(ctx, b.conn(0), row); err != nil {
		return nil, err
	}
	if claim {
		err := each(ctx, n, writers, func(ctx context.Context, i int) error { return b.newClaim(ctx, row, i) })
		if err != nil {
			return nil, err
		}
	}
	l, err := b.watchLives(ctx, row)
	if err != nil {
		return nil, err
	}
	defer l.close()
	before, err := b.server.scheduler.cpu()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	server, _, err := b.spent(func() error {
		made := make(chan error, 1)
		go func() {
			made <- each(ctx, n, writers, func(ctx context.Context, i int) error { return b.newUnbound(ctx, row, i, claim) })
		}()
		if err := l.until(func() bool { return len(l.bound) >= n }); err != nil {
			return err
		}
		if err := <-made; err != nil {
			return err
		}
		return sleep(ctx, aftermath)
	})
	if err != nil {
		return nil, err
	}
	after, err := b.server.scheduler.cpu()
	if err != nil {
		return nil, err
	}
	return []figure{
		{row + "-rate", float64(n) / l.boundAt.Sub(begin).Seconds()},
		{row + "-cpu", us(after-before) / float64(n)},
		{row + "-server", us(server) / float64(n)},
	}, nil
}

// newUnbound creates pod i without a node.
func (b *bench) newUnbound(ctx context.Context, namespace string, i int, claim bool) error {
	text, err := newPod(i, 1, 1)
	if err != nil {
		return err
	}
	var pod corev1.Pod
	if err := json.Unmarshal(text, &pod); err != nil {
		return err
	}
	pod.Spec.NodeName = ""
	if claim {
		name := podName(i)
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: &name}}
		pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "device"}}
	}
	if text, err = json.Marshal(&pod); err != nil {
		return err
	}
	return b.conn(i).call(ctx, request{method: http.MethodPost, path: "/api/v1/namespaces/" + namespace + "/pods", body: text, want: http.StatusCreated})
}

// newClaim creates the claim of pod i for a device.
func (b *bench) newClaim(ctx context.Context, namespace string, i int) error {
	text, err := json.Marshal(&resourcev1.ResourceClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaim"}, ObjectMeta: metav1.ObjectMeta{Name: podName(i)},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "device", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: deviceClass},
		}}}},
	})
	if err != nil {
		return err
	}
	path := "/apis/resource.k8s.io/v1/namespaces/" + namespace + "/resourceclaims"
	return b.conn(i).call(ctx, request{method: http.MethodPost, path: path, body: text, want: http.StatusCreated})
}
