package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/trace/why"
)

// TestWhyCluster: without an object, `why` lists the root causes in the cluster, each once, with the objects that it affects.
func TestWhyCluster(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 2})
	a.await(core+"serviceaccounts/default", "default")
	a.want("", "", "All is well with ")

	a.make(apps+"deployments", `{metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "shop/web:does-not-exist"}]}}}}`)
	a.make(core+"services", `{metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}`, `{metadata: {name: pool}, spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}}`)
	a.make(core+"pods",
		`{metadata: {name: settings}, spec: {containers: [{name: c, image: nginx, envFrom: [{configMapRef: {name: absent}}]}]}}`,
		`{metadata: {name: claims}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], containers: [{name: c, image: nginx}]}}`,
		`{metadata: {name: runs}, spec: {containers: [{name: c, image: nginx}]}}`)
	a.make(core+"persistentvolumeclaims", `{metadata: {name: data}, spec: {storageClassName: nowhere, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	a.make(core+"configmaps", `{metadata: {name: stays, finalizers: [example.com/never]}}`)
	a.send("DELETE", core+"configmaps/stays", `{}`)
	a.make("/apis/networking.k8s.io/v1/namespaces/default/ingresses", `{metadata: {name: front}, spec: {ingressClassName: nginx, defaultBackend: {service: {name: web, port: {number: 80}}}}}`)
	a.make("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{metadata: {name: hook}, webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {namespace: default, name: none}}, rules: [{apiGroups: [example.com], apiVersions: [v1], resources: [things], operations: [CREATE]}]}]}`)
	a.make("/api/v1/nodes", `{apiVersion: v1, kind: Node, metadata: {name: ghost, annotations: {}}}`)

	text := a.want("", "",
		`3 pods: container c waits: ImagePullBackOff: Back-off pulling image "shop/web:does-not-exist"`, "affects: Service default/pool, Service default/web, Deployment default/web, Ingress default/front",
		"Service default/pool: it has no address from a load balancer yet",
		"next:    correct the image's name", "more:    fairlead why pod/web-",
		`Pod default/settings: container c waits: CreateContainerConfigError: configmap "absent" not found`, "kubectl -n default create configmap absent",
		"PersistentVolumeClaim default/data: its StorageClass nowhere does not exist", "affects: Pod default/claims",
		"ConfigMap default/stays: finalizer example.com/never blocks the deletion",
		"Ingress default/front: its IngressClass nginx does not exist",
		"ValidatingWebhookConfiguration hook: its Service none does not exist",
		"Node ghost: no kubelet has reported a status for it")
	if strings.Contains(text, "default/runs") || strings.Contains(text, "All is well") {
		t.Errorf("a pod that runs is in\n%s", text)
	}

	// The server answers the same, from what the user may read.
	var s why.Survey
	res, err := a.c.REST().Do(t.Context(), client.Request{Path: why.Path})
	if err == nil {
		err = json.Unmarshal(res.Body, &s)
	}
	if err != nil || len(s.Problems) == 0 || len(s.Problems[0].Objects) != 3 || len(s.Problems[0].Affects) != 4 || s.Objects < 20 ||
		len(s.Rollouts) != 1 || s.Rollouts[0].Want != 3 || len(s.Nodes) != 3 || s.Nodes[0].MaxPods == 0 || s.Nodes[0].Pods == 0 {
		t.Errorf("%v, %+v", err, s)
	}
	a.make("/apis/rbac.authorization.k8s.io/v1/clusterroles", `{metadata: {name: nodes}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}, {nonResourceURLs: [/debug/why], verbs: [get]}]}`)
	a.make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{metadata: {name: nodes}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nodes}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]}`)
	for changed := a.log.Changed(); ; changed = a.log.Changed() { // until the authorizer knows the binding
		if res, err = a.c.As("reader").REST().Do(t.Context(), client.Request{Path: why.Path, Accept: "text/plain"}); !apierrors.IsForbidden(err) {
			break
		}
		<-changed
	}
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(res.Body), "Node ghost") || strings.Contains(string(res.Body), "settings") || !strings.Contains(string(res.Body), "Not looked at, because you may not list them: ") {
		t.Errorf("%s", res.Body)
	}
	_, err = a.c.REST().Do(t.Context(), client.Request{Path: why.Path, Query: map[string][]string{"name": {"web"}}})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a name without a resource: %v", err)
	}
}

// TestWhyStalledUpdate: a rolling update whose new pods do not start is a problem, though the old ones serve.
func TestWhyStalledUpdate(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 2})
	a.make(apps+"deployments", `{metadata: {name: web}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}}}`)
	a.make(apps+"statefulsets", `{metadata: {name: db}, spec: {replicas: 3, serviceName: db, updateStrategy: {rollingUpdate: {partition: 2}}, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: nginx}]}}}}`)
	a.want("", "", "All is well with ")
	a.send("PATCH", apps+"statefulsets/db", `{spec: {template: {spec: {containers: [{name: c, image: "nginx:2"}]}}}}`)
	a.await(apps+"statefulsets/db", `"updatedReplicas":1`) // the two below the partition keep the former template
	a.want("", "", "All is well with ")
	a.send("PATCH", apps+"deployments/web", `{spec: {template: {spec: {containers: [{name: c, image: "shop/web:does-not-exist"}]}}}}`)
	a.want("default", "deployments/web", "has 3 of 3 replicas ready", "1 of 3 replicas have the current template", "ImagePullBackOff")
	a.want("", "", "ImagePullBackOff", "affects: Deployment default/web")
	a.send("PATCH", apps+"deployments/web", `{spec: {paused: true, template: {spec: {containers: [{name: c, image: "nginx:2"}]}}}}`)
	a.want("", "", "Deployment default/web: its rollout is paused")
	a.send("PATCH", apps+"deployments/web", `{spec: {paused: false}}`)
	a.want("", "", "All is well with ")
}

// TestWhyWatch: `why --watch` prints the explanation again when it has changed.
func TestWhyWatch(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{}})
	a.make(core+"configmaps", `{metadata: {name: stays, finalizers: [example.com/never]}}`)
	f := a.flag
	f.watch = true
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- f.run(ctx, write, [2]string{"cm", "stays"})
		write.Close()
	}()
	lines := bufio.NewScanner(read)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the output ended without %q: %v", want, <-done)
	}
	until("ConfigMap default/stays exists")
	a.send("DELETE", core+"configmaps/stays", `{}`)
	until("ConfigMap default/stays is terminating")
	until("next: start that program")
	cancel()
	go io.Copy(io.Discard, read)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
