package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"

	"fairlead.dev/internal/cputime"
)

// TestApplyConfigurations applies client-go's apply configurations and reads them back by its
// Extract functions.
func TestApplyConfigurations(t *testing.T) {
	c, ctx := start(t), context.Background()
	k := c.typed()
	config := appsac.Deployment("d", "default").WithSpec(appsac.DeploymentSpec().WithReplicas(2).
		WithSelector(metaac.LabelSelector().WithMatchLabels(map[string]string{"a": "b"})).
		WithTemplate(coreac.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).
			WithSpec(coreac.PodSpec().WithContainers(coreac.Container().WithName("c").WithImage("i")))))
	d, err := k.AppsV1().Deployments("default").Apply(ctx, config, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		t.Fatal(err)
	}
	mine, err := appsac.ExtractDeployment(d, "one")
	if err != nil || *mine.Spec.Replicas != 2 || *mine.Spec.Template.Spec.Containers[0].Image != "i" || mine.Spec.Template.Spec.RestartPolicy != nil {
		t.Fatalf("extracted %+v, %v", mine, err)
	}

	_, err = k.AppsV1().Deployments("default").Apply(ctx, appsac.Deployment("d", "default").WithSpec(appsac.DeploymentSpec().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "two"})
	status, ok := err.(apierrors.APIStatus)
	if !apierrors.IsConflict(err) || !ok {
		t.Fatal("not a conflict:", err)
	}
	causes := status.Status().Details.Causes
	if len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".spec.replicas" || causes[0].Message != `conflict with "one"` {
		t.Errorf("causes %+v", causes)
	}
	d, err = k.AppsV1().Deployments("default").Apply(ctx, appsac.Deployment("d", "default").WithSpec(appsac.DeploymentSpec().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil || *d.Spec.Replicas != 3 {
		t.Fatal(err)
	}
	d, err = k.AppsV1().Deployments("default").ApplyStatus(ctx, appsac.Deployment("d", "default").WithStatus(appsac.DeploymentStatus().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "status"})
	if err != nil || d.Status.Replicas != 3 || d.Generation != 2 {
		t.Fatal(d, err)
	}
	if state, err := appsac.ExtractDeploymentStatus(d, "status"); err != nil || *state.Status.Replicas != 3 {
		t.Errorf("extracted %+v, %v", state, err)
	}
}

// TestNoWriteWithoutChange checks that a write that changes no field is not committed,
// whichever manager sends it and however often.
func TestNoWriteWithoutChange(t *testing.T) {
	c := start(t)
	apply := func(manager, body string) string {
		return c.must("PATCH "+maps+"/a?fieldManager="+manager+" application/apply-patch+yaml", body).text("metadata.resourceVersion")
	}
	first := apply("one", mapA)
	if again := apply("one", mapA); again != first {
		t.Errorf("the second apply moved the revision from %s to %s", first, again)
	}
	shared := apply("two", mapA)
	if shared == first {
		t.Error("that another manager shares the fields was not recorded")
	}
	for range 2 {
		if again := c.must("PATCH "+maps+"/a application/merge-patch+json", `{"data":{"k":"v"}}`).text("metadata.resourceVersion"); again != shared {
			t.Error("a patch that changes nothing was written")
		}
	}
	if again := c.must("PUT "+maps+"/a", mapA).text("metadata.resourceVersion"); again != shared {
		t.Error("an update that changes nothing was written")
	}
}

// TestRecordSurvivesEncodings checks that an object sent back as protobuf keeps its managed
// fields.
func TestRecordSurvivesEncodings(t *testing.T) {
	c, ctx := start(t), context.Background()
	config := c.config()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	k := c.typedWith(config)
	made, err := k.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"a": "1", "b": "1"}}, metav1.CreateOptions{FieldManager: "maker"})
	if err != nil {
		t.Fatal(err)
	}
	made.Data["b"] = "2"
	got, err := k.CoreV1().ConfigMaps("default").Update(ctx, made, metav1.UpdateOptions{FieldManager: "changer"})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range got.ManagedFields {
		said = append(said, e.Manager+" "+string(e.FieldsV1.GetRawBytes()))
	}
	want := `changer {"f:data":{"f:b":{}}} maker {"f:data":{".":{},"f:a":{}}}`
	if strings.Join(said, " ") != want {
		t.Errorf("got %s, want %s", said, want)
	}
}

func BenchmarkApplyPod(b *testing.B) {
	wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
		before := cputime.Used()
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			n++
			body := strings.Replace(podBody("web"), `"example.com/revision":"7"`, fmt.Sprintf(`"example.com/revision":"%d"`, n), 1)
			req, _ := http.NewRequest("PATCH", base+"/api/v1/namespaces/default/pods/web?fieldManager=bench", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/apply-patch+yaml")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode/100 != 2 {
				b.Fatal(resp.StatusCode, string(text))
			}
		}
		reportCPU(b, before)
	})
}
