package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/trace/why"
	"fairlead.dev/trace"
	"sigs.k8s.io/yaml"
)

// explained is a control plane whose objects `why` explains.
type explained struct {
	t    *testing.T
	log  *trace.Log
	c    *client.Client
	flag whyFlags
}

func startExplained(t *testing.T, o controlplane.Options) *explained {
	t.Helper()
	o.DataDir, o.InMemory, o.Listen, o.Trace = t.TempDir(), true, "127.0.0.1:0", trace.New(trace.Options{})
	cp, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(cp.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &explained{t, o.Trace, c, whyFlags{target: target{kubeconfig: cp.KubeconfigPath()}}}
}

// make creates objects, each in YAML below a path.
func (a *explained) make(path string, objects ...string) {
	a.t.Helper()
	for _, o := range objects {
		a.send("POST", path, o)
	}
}

func (a *explained) send(method, path, object string) {
	a.t.Helper()
	body, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		a.t.Fatal(err)
	}
	q := client.Request{Method: method, Path: path, Body: body}
	if method == "PATCH" {
		q.ContentType = "application/merge-patch+json"
	}
	if _, err := a.c.REST().Do(a.t.Context(), q); err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// await waits until an object exists and contains a text.
func (a *explained) await(path, text string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	last := ""
	for {
		changed := a.log.Changed()
		res, err := a.c.REST().Do(ctx, client.Request{Path: path})
		if err == nil {
			last = string(res.Body)
		}
		if strings.Contains(last, text) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			a.t.Fatalf("%s: %v, no %q in %s", path, err, text, last)
		}
	}
}

// want runs `why` until its output has all the parts, since causes are traced only a moment
// after the object was created. It returns the output.
func (a *explained) want(namespace, object string, parts ...string) string {
	a.t.Helper()
	kind, name, _ := strings.Cut(object, "/")
	f := a.flag
	f.namespace = namespace
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	missing := ""
	for {
		changed := a.log.Changed()
		var out strings.Builder
		if err := f.run(ctx, &out, [2]string{kind, name}); err != nil {
			a.t.Fatalf("%s, which lacked %q: %v", object, missing, err)
		}
		missing = ""
		for _, p := range parts {
			if !strings.Contains(out.String(), p) {
				missing = p
			}
		}
		if missing == "" {
			return out.String()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			a.t.Fatalf("%s: no %q in\n%s", object, missing, &out)
		}
	}
}

const (
	core = "/api/v1/namespaces/default/"
	apps = "/apis/apps/v1/namespaces/default/"
)

func TestWhy(t *testing.T) {
	a := startExplained(t, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 2})
	a.await(core+"serviceaccounts/default", "default")

	a.make(core+"pods", `{metadata: {name: big}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "5000"}}}]}}`)
	a.want("default", "pod/big", "Pod default/big is Pending, not assigned to a node", "default-scheduler reported: Unschedulable", "2 Insufficient cpu", "seen by default-scheduler for default/big")

	a.make("/api/v1/nodes", `{metadata: {name: apart, labels: {kubernetes.io/hostname: apart}}, spec: {taints: [{key: mine, effect: NoSchedule}]}}`)
	a.make(core+"pods", `{metadata: {name: shy}, spec: {nodeSelector: {kubernetes.io/hostname: apart}, containers: [{name: c, image: i}]}}`)
	a.want("default", "po/shy", "Unschedulable", "untolerated taint")

	a.make(core+"persistentvolumeclaims", `{metadata: {name: data}, spec: {storageClassName: nowhere, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	a.make(core+"pods", `{metadata: {name: claims}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, persistentVolumeClaim: {claimName: none}}], containers: [{name: c, image: i}]}}`)
	a.want("default", "pod/claims", "its PersistentVolumeClaim data is Pending", "its PersistentVolumeClaim none does not exist", "PersistentVolumeClaim default/data is Pending", "a volume of class nowhere")

	a.make(core+"pods", `{metadata: {name: typo}, spec: {nodeName: elsewhere, containers: [{name: c, image: ngin}]}}`)
	a.send("PATCH", core+"pods/typo/status", `{status: {phase: Pending, containerStatuses: [{name: c, image: ngin, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image ngin}}}]}}`)
	a.want("default", "pod/typo", "container c waits: ImagePullBackOff: Back-off pulling image ngin")

	a.make("/api/v1/namespaces", `{metadata: {name: full}}`)
	a.make("/api/v1/namespaces/full/resourcequotas", `{metadata: {name: none}, spec: {hard: {pods: "0"}}}`)
	a.await("/api/v1/namespaces/full/resourcequotas/none", `"status":{"hard":{"pods":"0"}`) // it is in force
	a.make("/apis/apps/v1/namespaces/full/deployments", `{metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`)
	a.want("full", "deploy/web", "has 0 of 2 replicas ready", "ReplicaFailure is True: FailedCreate", "exceeded quota: none", "ReplicaSet full/web-", "replicaset for full/web-")

	a.make("/api/v1/namespaces", `{metadata: {name: old}}`)
	a.make("/api/v1/namespaces/old/configmaps", `{metadata: {name: stays, finalizers: [example.com/never]}}`)
	a.send("DELETE", "/api/v1/namespaces/old", `{}`)
	a.want("", "ns/old", "is terminating since", "finalizer kubernetes blocks the deletion", "example.com/never in 1 resource instances")
	a.want("old", "cm/stays", "finalizer example.com/never blocks the deletion", "the program that added it")

	a.make(core+"configmaps", `{metadata: {name: plain}}`)
	a.want("default", "cm/plain", "exists", "no controller has acted on revision")
	a.send("DELETE", core+"configmaps/plain", `{}`)
	a.want("default", "cm/plain", "was deleted", "kubernetes-admin deleted it at revision")

	a.make("/apis/batch/v1/namespaces/default/jobs", `{metadata: {name: later}, spec: {suspend: true, completions: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`)
	a.want("default", "job/later", "has 0 of 3 pods completed, 0 active, 0 failed", "it is suspended")
	a.make(core+"pods", `{metadata: {name: done}, spec: {nodeName: elsewhere, containers: [{name: c, image: i}]}}`)
	a.send("PATCH", core+"pods/done/status", `{status: {phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}}`)
	if text := a.want("default", "pod/done", "is Succeeded"); strings.Contains(text, "PodCompleted") {
		t.Errorf("a completed pod waits:\n%s", text)
	}
	a.make(apps+"replicasets", `{metadata: {name: many}, spec: {replicas: 8, selector: {matchLabels: {of: many}}, template: {metadata: {labels: {of: many}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "5000"}}}]}}}}`)
	a.want("default", "rs/many", "has 0 of 8 replicas ready: 8 pods: default-scheduler reported: Unschedulable", "and 7 more like it is Pending", "next: lower the pod's requests")

	a.make(apps+"deployments", `{metadata: {name: good}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`)
	a.want("default", "deployment/good", "has 2 of 2 replicas ready", "is Running")

	f := a.flag
	for output, read := range map[string]func([]byte, any) error{"json": json.Unmarshal, "yaml": func(b []byte, v any) error { return yaml.Unmarshal(b, v) }} {
		f.output = output
		var out strings.Builder
		var got why.Explanation
		if err := f.run(t.Context(), &out, [2]string{"pod", "big"}); err != nil {
			t.Fatal(err)
		}
		if err := read([]byte(out.String()), &got); err != nil || got.Kind != "Pod" || !got.Waits || len(got.Reasons) == 0 {
			t.Errorf("%v %+v", err, got)
		}
	}
	if err := a.flag.run(t.Context(), &strings.Builder{}, [2]string{"pod", "missing"}); err == nil || !strings.Contains(err.Error(), "no event of it") {
		t.Error(err)
	}
}

// TestWhyUnwatched: `why` reports that an object has no watchers.
func TestWhyUnwatched(t *testing.T) {
	a := startExplained(t, controlplane.Options{})
	a.make(core+"configmaps", `{metadata: {name: plain}}`)
	a.want("default", "cm/plain", "it has no watchers: revision")
	a.make(core+"serviceaccounts", `{metadata: {name: default}}`)
	a.make(core+"pods", `{metadata: {name: p}, spec: {serviceAccountName: default, containers: [{name: c, image: i}]}}`)
	a.want("default", "pod/p", "default-scheduler has not reported a result")
}

func TestWhyRefusals(t *testing.T) {
	for _, args := range [][]string{{"pod"}, {"pod/a", "b"}, {"pod", "a", "b"}, {"/a"}} {
		if _, err := (&whyFlags{}).check(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	if _, err := (&whyFlags{output: "table"}).check([]string{"pod/a"}); err == nil {
		t.Error("-o table is accepted")
	}
}
