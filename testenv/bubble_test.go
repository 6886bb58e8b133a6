package testenv_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller"
	"fairlead.dev/testenv"
)

// inBubble runs a test with a control plane and upstream's client in a bubble, and logs the virtual time over the real.
func inBubble(t *testing.T, o testenv.Options, test func(t *testing.T, env *testenv.Env, c kubernetes.Interface)) {
	real := realClock()
	var virtual time.Duration
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o.Bubble = true
		env := testenv.New(t, o)
		c, err := kubernetes.NewForConfig(env.Config())
		if err != nil {
			t.Fatal(err)
		}
		test(t, env, c)
		virtual = time.Since(began)
	})
	took := real()
	t.Logf("%v of virtual time in %v, %.0f times as fast", virtual.Round(time.Second), took.Round(time.Millisecond), virtual.Seconds()/took.Seconds())
}

// realClock returns a function that returns the real time since; call both outside of bubbles.
func realClock() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

func TestBubbleCronJob(t *testing.T) {
	inBubble(t, testenv.Options{}, func(t *testing.T, _ *testenv.Env, c kubernetes.Interface) {
		ctx := t.Context()
		hourly := &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: "hourly"},
			Spec: batchv1.CronJobSpec{
				Schedule: "0 * * * *", SuccessfulJobsHistoryLimit: ptr.To[int32](1000),
				JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "job", Image: "job"}},
				}}}},
			},
		}
		if _, err := c.BatchV1().CronJobs("default").Create(ctx, hourly, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.Sleep(7*24*time.Hour + time.Minute)
		jobs, err := c.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs.Items) != 7*24 {
			t.Errorf("%d jobs in a week", len(jobs.Items))
		}
		for _, j := range jobs.Items {
			if at := j.CreationTimestamp.Time; at.Truncate(time.Hour) != at || at.Before(began) {
				t.Errorf("%s was created at %v", j.Name, at)
			}
			if j.Status.Succeeded != 1 || j.Status.CompletionTime == nil || j.Status.CompletionTime.Sub(j.CreationTimestamp.Time) > time.Minute {
				t.Errorf("%s: %+v", j.Name, j.Status)
			}
		}
	})
}

func TestBubbleNodeDies(t *testing.T) {
	inBubble(t, testenv.Options{}, func(t *testing.T, _ *testenv.Env, c kubernetes.Interface) {
		ctx := t.Context()
		createDeployment(t, c, 6)
		time.Sleep(time.Minute)
		patch := []byte(`{"metadata":{"annotations":{"fairlead.dev/outage":"true"}}}`)
		if _, err := c.CoreV1().Nodes().Patch(ctx, "node-2", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		died := time.Now()
		time.Sleep(10 * time.Minute)
		n, err := c.CoreV1().Nodes().Get(ctx, "node-2", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type != corev1.NodeReady {
				continue
			}
			// The grace period of the node lifecycle controller; times have whole seconds.
			if noticed := cond.LastTransitionTime.Sub(died); cond.Status != corev1.ConditionUnknown || noticed < 49*time.Second || noticed > 51*time.Second {
				t.Errorf("Ready is %s since %v after the outage", cond.Status, noticed)
			}
		}
		pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ready := 0
		for _, p := range pods.Items {
			switch {
			case p.Spec.NodeName == "node-2" && p.DeletionTimestamp == nil:
				t.Errorf("%s stays on the dead node", p.Name)
			case p.Spec.NodeName != "node-2" && p.Status.Phase == corev1.PodRunning:
				ready++
			}
			// Pods tolerate an unreachable node for five minutes.
			if moved := p.CreationTimestamp.Sub(died); moved > 0 && (moved < 349*time.Second || moved > 6*time.Minute) {
				t.Errorf("%s was made %v after the outage", p.Name, moved)
			}
		}
		if ready != 6 {
			t.Errorf("%d pods run elsewhere", ready)
		}
		back := []byte(`{"metadata":{"annotations":{"fairlead.dev/outage":null}}}`)
		if _, err := c.CoreV1().Nodes().Patch(ctx, "node-2", types.MergePatchType, back, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if n, err = c.CoreV1().Nodes().Get(ctx, "node-2", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			t.Errorf("a second after the outage: %+v", n.Status.Conditions)
		}
	})
}

func TestBubbleAutoscaler(t *testing.T) {
	inBubble(t, testenv.Options{}, func(t *testing.T, _ *testenv.Env, c kubernetes.Interface) {
		ctx := t.Context()
		d := createDeployment(t, c, 8)
		hpa := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: d.Name},
				MinReplicas:    ptr.To[int32](2), MaxReplicas: 10,
				Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
					Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](80)},
				}}},
			},
		}
		if _, err := c.AutoscalingV2().HorizontalPodAutoscalers("default").Create(ctx, hpa, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for replicas := int32(8); replicas > 4; {
			time.Sleep(15 * time.Second)
			now, err := c.AppsV1().Deployments("default").Get(ctx, d.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if *now.Spec.Replicas != replicas {
				replicas = *now.Spec.Replicas
				t.Logf("%d replicas after %v", replicas, time.Since(began))
				// A recommendation to scale down has to hold for five minutes.
				if time.Since(began) < 5*time.Minute {
					t.Errorf("scaled down after %v", time.Since(began))
				}
			}
			if time.Since(began) > 15*time.Minute {
				t.Fatalf("%d replicas after %v", replicas, time.Since(began))
			}
		}
	})
}

func TestBubbleLeaseExpires(t *testing.T) {
	inBubble(t, testenv.Options{NoNodes: true}, func(t *testing.T, _ *testenv.Env, c kubernetes.Interface) {
		elect := func(ctx context.Context, name string) <-chan time.Time {
			leads := make(chan time.Time, 1)
			e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "operator"}, Client: c.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { leads <- time.Now() }, OnStoppedLeading: func() {},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			go e.Run(ctx)
			return leads
		}
		first, kill := context.WithCancel(t.Context())
		<-elect(first, "first")
		second, stop := context.WithCancel(t.Context())
		defer stop()
		leads := elect(second, "second")
		time.Sleep(time.Hour)
		kill() // without ReleaseOnCancel the lease has to expire
		died := time.Now()
		// The second looks every 2 s, and up to 1.2 times as long later. It may see the last renewal that late, waits
		// for the lease's 15 s, and may look that late again.
		if waited := (<-leads).Sub(died); waited < 12*time.Second || waited > 24*time.Second {
			t.Errorf("the second led after %v", waited)
		}
	})
}

func TestBubbleRequeue(t *testing.T) {
	inBubble(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true}, func(t *testing.T, env *testenv.Env, c kubernetes.Interface) {
		ctx, stop := context.WithCancel(t.Context())
		m, err := controller.NewManager(env.Config(), "operator", controller.ManagerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		maps := controller.ObjectsOf[*corev1.ConfigMap](m.Env)
		var at []time.Time
		m.New("operator", controller.ByObject(maps, func(_ context.Context, c *corev1.ConfigMap) (controller.Result, error) {
			if c.Name == "watched" {
				at = append(at, time.Now())
			}
			return controller.Result{RequeueAfter: 30 * time.Minute}, nil
		}), controller.Options{Workers: 1}).Watch(controller.For(maps))
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		watched := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}
		if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, watched, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour + time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(at) != 49 {
			t.Errorf("%d calls in a day: %v", len(at), at)
		}
	})
}

func TestBubbleWebhook(t *testing.T) {
	inBubble(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true}, func(t *testing.T, env *testenv.Env, c kubernetes.Interface) {
		ctx := t.Context()
		l, err := env.Listen("127.0.0.1:9443")
		if err != nil {
			t.Fatal(err)
		}
		served := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var review admissionv1.AdmissionReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not on a " + time.Now().Weekday().String()}}
			json.NewEncoder(w).Encode(review)
		})}}
		served.StartTLS()
		defer served.Close()
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served.Certificate().Raw})
		hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "weekdays"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "weekdays.example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9443/"), CABundle: ca},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}},
				SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			}},
		}
		if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, hook, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refused"}}, metav1.CreateOptions{})
		// A bubble's clock starts on a Saturday.
		if err == nil || !strings.Contains(err.Error(), "not on a Saturday") {
			t.Errorf("the webhook's answer: %v", err)
		}
		if _, err := env.Listen("127.0.0.1:9443"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
	})
}

// createDeployment creates a Deployment with pods of some CPU, and waits for them.
func createDeployment(t *testing.T, c kubernetes.Interface, replicas int32) *appsv1.Deployment {
	t.Helper()
	labels := map[string]string{"app": "web"}
	d, err := c.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "web", Image: "web",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			}}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	got, err := c.AppsV1().Deployments("default").Get(t.Context(), d.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.ReadyReplicas != replicas {
		status, _ := json.Marshal(got.Status)
		t.Fatalf("not ready after a minute: %s", status)
	}
	return d
}
