package clients_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	releases "helm.sh/helm/v4/pkg/release"
	release "helm.sh/helm/v4/pkg/release/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

const (
	namespace = "market"
	patience  = time.Minute
)

// shop is one release of the chart, with Helm's configuration for it.
type shop struct {
	*testing.T
	config *action.Configuration
	chart  *v2.Chart
	client *client.Client
}

func start(t *testing.T) shop {
	t.Helper()
	env := testenv.New(t, testenv.Options{})
	flags := genericclioptions.NewConfigFlags(true)
	path, ns := env.KubeconfigPath(), namespace
	flags.KubeConfig, flags.Namespace = &path, &ns
	config := action.NewConfiguration()
	if err := config.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	chart, err := loader.Load("testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	return shop{t, config, chart, env.Client(t)}
}

func (s shop) install(serverSide bool) *release.Release {
	s.Helper()
	i := action.NewInstall(s.config)
	i.Namespace, i.ReleaseName, i.CreateNamespace = namespace, "shop", true
	i.WaitStrategy, i.WaitForJobs, i.Timeout, i.ServerSideApply = kube.StatusWatcherStrategy, true, patience, serverSide
	r, err := i.RunWithContext(s.Context(), s.chart, map[string]any{})
	if err != nil {
		s.Fatal(err)
	}
	return r.(*release.Release)
}

func (s shop) upgrade(values map[string]any, change func(*action.Upgrade)) error {
	s.Helper()
	u := action.NewUpgrade(s.config)
	u.Namespace, u.ReuseValues = namespace, true
	u.WaitStrategy, u.WaitForJobs, u.Timeout = kube.StatusWatcherStrategy, true, patience
	if change != nil {
		change(u)
	}
	_, err := u.RunWithContext(s.Context(), "shop", s.chart, values)
	return err
}

// history lists the revisions with their states, oldest first.
func (s shop) history() (states []string) {
	s.Helper()
	list, err := action.NewHistory(s.config).Run("shop")
	if err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(list, func(a, b releases.Releaser) int { return a.(*release.Release).Version - b.(*release.Release).Version })
	for _, r := range list {
		states = append(states, r.(*release.Release).Info.Status.String())
	}
	return states
}

// deployment returns the image and the number of ready pods of the shop's Deployment.
func (s shop) deployment() (image string, ready int32) {
	s.Helper()
	d, err := client.For[*appsv1.Deployment](s.client).Namespace(namespace).Get(s.Context(), "shop")
	if err != nil {
		s.Fatal(err)
	}
	return d.Spec.Template.Spec.Containers[0].Image, d.Status.ReadyReplicas
}

// TestHelm installs, upgrades, rolls back and uninstalls a release, with each way in which
// Helm writes objects.
func TestHelm(t *testing.T) {
	for name, serverSide := range map[string]bool{"server-side apply": true, "three-way merges": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			life(start(t), serverSide)
		})
	}
}

func life(s shop, serverSide bool) {
	configs := client.For[*corev1.ConfigMap](s.client).Namespace(namespace)
	r := s.install(serverSide)
	prepared := slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
		return h.Name == "shop-prepare" && h.LastRun.Phase == release.HookPhaseSucceeded
	})
	if r.Info.Status != "deployed" || !prepared {
		s.Errorf("installed as %s, the hook has run: %v", r.Info.Status, prepared)
	}
	if image, ready := s.deployment(); image != "shop:1" || ready != 2 {
		s.Errorf("%s, %d ready", image, ready)
	}
	m, err := configs.Get(s.Context(), "shop")
	if err != nil || m.Data["greeting"] != "hello" || m.Data["tills"] != "true" || !strings.HasPrefix(m.Data["version"], "v1.37.") {
		s.Errorf("%v %v", m.Data, err)
	}

	if err := s.upgrade(map[string]any{"image": "shop:2", "greeting": "good day", "replicas": 3}, nil); err != nil {
		s.Fatal(err)
	}
	if image, ready := s.deployment(); image != "shop:2" || ready != 3 {
		s.Errorf("%s, %d ready", image, ready)
	}
	if m, err = configs.Get(s.Context(), "shop"); err != nil || m.Data["greeting"] != "good day" || m.Data["root"] != "kube-root-ca.crt" {
		s.Errorf("%v %v", m.Data, err)
	}

	test := action.NewReleaseTesting(s.config)
	test.Namespace, test.Timeout = namespace, patience
	if _, shutdown, err := test.Run("shop"); err != nil {
		s.Error(err)
	} else if err := shutdown(); err != nil {
		s.Error(err)
	}

	s.failures()
	s.back(serverSide)
	s.end()
}

// failures are upgrades that the server refuses, or that never become ready.
func (s shop) failures() {
	err := s.upgrade(map[string]any{"image": "shop:3", "selector": map[string]any{"more": "words"}}, func(u *action.Upgrade) { u.RollbackOnFailure = true })
	if err == nil || !strings.Contains(err.Error(), "field is immutable") {
		s.Errorf("a changed selector: %v", err)
	}
	err = s.upgrade(map[string]any{"nodeSelector": map[string]any{"no": "such"}}, func(u *action.Upgrade) { u.Timeout = 3 * time.Second })
	if err == nil {
		s.Error("an upgrade whose pods fit nowhere succeeded")
	}
	if got := s.history(); !slices.Equal(got, []string{"superseded", "superseded", "failed", "deployed", "failed"}) {
		s.Errorf("revisions %v", got)
	}
}

// back rolls back to the first revision.
func (s shop) back(serverSide bool) {
	r := action.NewRollback(s.config)
	r.Version, r.WaitStrategy, r.WaitForJobs, r.Timeout = 1, kube.StatusWatcherStrategy, true, patience
	if err := r.Run("shop"); err != nil {
		s.Fatal(err)
	}
	if image, ready := s.deployment(); image != "shop:1" || ready != 2 {
		s.Errorf("%s, %d ready", image, ready)
	}
	status, err := action.NewStatus(s.config).Run("shop")
	if err != nil {
		s.Fatal(err)
	}
	if got := status.(*release.Release); got.Version != 6 || got.Info.Status != "deployed" || got.Info.Description != "Rollback to 1" {
		s.Errorf("revision %d is %s: %s", got.Version, got.Info.Status, got.Info.Description)
	}
	list, err := action.NewList(s.config).Run()
	if err != nil || len(list) != 1 {
		s.Errorf("%d releases, %v", len(list), err)
	}
}

// end uninstalls the release, and checks that only objects with the policy "keep" remain.
func (s shop) end() {
	u := action.NewUninstall(s.config)
	u.WaitStrategy, u.Timeout, u.DeletionPropagation = kube.StatusWatcherStrategy, patience, "foreground"
	answer, err := u.Run("shop")
	// Helm's goroutines can see an object's deletion before its status Terminating. So this
	// error can be wrong; the checks below find out.
	if err != nil && !strings.Contains(err.Error(), "still exists. status: Terminating") {
		s.Fatal(err)
	}
	if !strings.Contains(answer.Info, "[PersistentVolumeClaim] shop") {
		s.Errorf("%q", answer.Info)
	}
	if _, err := client.For[*appsv1.Deployment](s.client).Namespace(namespace).Get(s.Context(), "shop"); !apierrors.IsNotFound(err) {
		s.Errorf("the deployment: %v", err)
	}
	if _, err := client.For[*corev1.PersistentVolumeClaim](s.client).Namespace(namespace).Get(s.Context(), "shop"); err != nil {
		s.Errorf("the claim: %v", err)
	}
	secrets, err := client.For[*corev1.Secret](s.client).Namespace(namespace).List(s.Context())
	if err != nil || len(secrets.Items) != 0 {
		s.Errorf("%d secrets left, %v", len(secrets.Items), err)
	}
}
