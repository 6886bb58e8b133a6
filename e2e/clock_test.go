package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// clock runs `fairlead clock`, and returns the time of the server and how far the command has advanced it.
func (p *process) clock(args ...string) (at time.Time, advanced time.Duration) {
	p.t.Helper()
	out, errs, code := p.tryClock(append(args, "-o", "json")...)
	if code != 0 {
		p.t.Fatalf("clock %q exits with %d: %s\n%s", args, code, errs, p.stderr)
	}
	var state struct {
		Time     metav1.MicroTime
		Advanced metav1.Duration
	}
	if err := json.Unmarshal([]byte(out), &state); err != nil {
		p.t.Fatalf("%s: %v", out, err)
	}
	return state.Time.Time, state.Advanced.Duration
}

func (p *process) tryClock(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin.fairlead, append([]string{"clock", "--kubeconfig", p.Kubeconfig}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestVirtualClock runs an hourly CronJob for a day, while an informer of client-go watches its Jobs.
func TestVirtualClock(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clock=virtual")
	ctx, c := t.Context(), p.clientset()
	began, _ := p.clock()
	if again, _ := p.clock(); !again.Equal(began) {
		t.Errorf("the clock went from %v to %v by itself", began, again)
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	seen := make(chan string, 100)
	jobs := factory.Batch().V1().Jobs().Informer()
	if _, err := jobs.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) { seen <- o.(*batchv1.Job).Name }}); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	p.clock("advance", "1s")
	p.kubectl("create", "cronjob", "hourly", "--image=job", "--schedule=0 * * * *", "--", "true")
	p.kubectl("patch", "cronjob", "hourly", "--type=merge", "-p", `{"spec":{"successfulJobsHistoryLimit":100}}`)
	real := time.Now()
	at, advanced := p.clock("advance", "24h")
	t.Logf("a day of an hourly CronJob took %v", time.Since(real))
	if advanced != 24*time.Hour || !at.Equal(began.Add(24*time.Hour+time.Second)) {
		t.Errorf("advanced by %v from %v to %v", advanced, began, at)
	}
	for range 24 {
		select {
		case <-seen:
		case <-time.After(patience):
			t.Fatal("the informer has not seen all jobs")
		}
	}
	list, err := c.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 24 {
		t.Errorf("%d jobs in a day", len(list.Items))
	}
	for _, j := range list.Items {
		if made := j.CreationTimestamp.Time; !made.Truncate(time.Hour).Equal(made) || j.Status.Succeeded != 1 {
			t.Errorf("%s of %v: %+v", j.Name, made, j.Status)
		}
	}

	// The ages of states, and times before now, count by the server's clock.
	p.kubectl("create", "configmap", "aged")
	p.clock("advance", "2m")
	p.kubectl("patch", "configmap", "aged", "-p", `{"data":{"a":"1"}}`)
	p.clock("advance", "2m")
	if r := fairlead(t, "history", "configmap/aged", "--kubeconfig="+p.Kubeconfig); !strings.Contains(r.out, " 2m") || !strings.Contains(r.out, " 4m") {
		t.Errorf("states of 2 and 4 minutes ago:\n%s%s", r.out, r.errs)
	}
	if r := fairlead(t, "diff", "configmap/aged", "--kubeconfig="+p.Kubeconfig, "--at=-3m", "-o=fields"); !strings.Contains(r.out, "data") {
		t.Errorf("since the state of 3 minutes ago:\n%s%s", r.out, r.errs)
	}
	p.stop()
}

// TestVirtualClockRun stops the clock at the moments at which objects meet conditions.
func TestVirtualClockRun(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clock=virtual")
	ctx, c := t.Context(), p.clientset()
	p.clock("run", "--until=create", "serviceaccount/default")
	p.kubectl("create", "job", "sleeps", "--image=busybox", "--", "sleep", "3000")
	made, err := c.BatchV1().Jobs("default").Get(ctx, "sleeps", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := p.clock("run", "--until=condition=Complete", "job/sleeps")
	done, err := c.BatchV1().Jobs("default").Get(ctx, "sleeps", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if took := at.Sub(made.CreationTimestamp.Time); took < 50*time.Minute || took > 51*time.Minute {
		t.Errorf("a sleep of 3000 s took %v", took)
	}
	if end := done.Status.CompletionTime; end == nil || at.Sub(end.Time) > time.Second || at.Before(end.Time) {
		t.Errorf("the clock stopped at %v, the job ended at %v", at, end)
	}
	if again, advanced := p.clock("run", "--until=jsonpath={.status.succeeded}=1", "job/sleeps"); advanced != 0 || !again.Equal(at) {
		t.Errorf("a condition that holds advanced the clock by %v", advanced)
	}
	for args, want := range map[string]string{
		"run --until=delete job/sleeps --limit=5m": "job/sleeps does not meet delete after 5m0s of virtual time",
		"run --until=create plane/one":             "plane",
	} {
		if _, errs, code := p.tryClock(strings.Fields(args)...); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
	for _, args := range []string{
		"advance -5m", "advance 0s", "advance soon", "advance", "advance 1m 2m", "run job/sleeps", "run --until=create", "run --until=create job",
		"run --until=create --limit=-1m job/sleeps", "run --until=jsonpath={.a job/sleeps", "run --until=jsonpath={.a}= job/sleeps", "run --until=condition= job/sleeps", "back",
	} {
		if _, errs, code := p.tryClock(strings.Fields(args)...); code != 2 || strings.Count(errs, "\n") != 2 {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
	// Only the limit above has moved the clock since.
	if now, _ := p.clock(); !now.Equal(at.Add(5 * time.Minute)) {
		t.Errorf("wrong commands moved the clock from %v to %v", at, now)
	}
	for _, body := range []string{`{"by":"-1h"}`, `{"by":"0s"}`, `{"by":"1h","to":"noon"}`, `{}`, `{"by":"1h","watch":"https://example.com/?watch=true"}`} {
		if err := c.RESTClient().Post().AbsPath("/debug/clock").Body([]byte(body)).Do(ctx).Error(); err == nil {
			t.Errorf("%s was taken", body)
		}
	}
	p.stop()
}

// TestVirtualClockRights advances the clock as users with the right to do so, and without.
func TestVirtualClockRights(t *testing.T) {
	p := launch(t, "server", "--in-memory", "--clock=virtual", "--listen=127.0.0.1:0", "--data-dir", t.TempDir())
	file := filepath.Join(t.TempDir(), "advance.json")
	try := func(body, want string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, body, p.kubectlFails("create", "--raw=/debug/clock", "-f", file, "--as=ada"), want)
	}
	began, _ := p.clock()
	try(`{"by":"1m"}`, `cannot post path "/debug/clock"`)
	p.kubectl("create", "clusterrole", "clock", "--verb=*", "--non-resource-url=/debug/clock")
	p.kubectl("create", "clusterrolebinding", "clock", "--clusterrole=clock", "--user=ada")
	eventually(t, "ada's rights", func() bool {
		get, cancel := p.command("get", "--raw=/debug/clock", "--as=ada")
		defer cancel()
		return get.Run() == nil
	})
	try(`{"by":"1m","watch":"/api/v1/secrets?watch=true"}`, `cannot watch resource "secrets"`)
	if now, _ := p.clock(); !now.Equal(began) {
		t.Errorf("refused requests moved the clock from %v to %v", began, now)
	}
	p.kubectl("create", "--raw=/debug/clock", "-f", file)
	if now, _ := p.clock(); !now.After(began) {
		t.Errorf("an administrator did not move the clock from %v", began)
	}
	p.stop()
}

// TestVirtualClockCertificates connects anew after 400 days, in which certificates with a life of a year would end.
func TestVirtualClockCertificates(t *testing.T) {
	p := launch(t, "server", "--in-memory", "--clock=virtual", "--listen=127.0.0.1:0", "--data-dir", t.TempDir())
	ctx := t.Context()
	const later = 400 * 24 * time.Hour
	real := time.Now()
	at, _ := p.clock("advance", later.String())
	t.Logf("400 idle days took %v", time.Since(real))
	m, err := p.clientset().CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !m.CreationTimestamp.Time.Equal(at.Truncate(time.Second)) || time.Until(at) < later-time.Hour {
		t.Errorf("created at %v, the clock has %v", m.CreationTimestamp, at)
	}
	p.stop()
}

// TestVirtualClockRefused starts servers whose flags exclude each other, and advances the clock of one in real time.
func TestVirtualClockRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for args, want := range map[string]string{
		"--in-memory --clock=sundial":                                  "want real or virtual",
		"--clock=virtual":                                              "needs --in-memory",
		"--clock=virtual --clusters --stdin":                           "needs --in-memory",
		"--in-memory --clock=virtual --etcd-listen=127.0.0.1:0":        "excludes --etcd-listen",
		"--in-memory --clock=virtual --otlp-endpoint=http://127.0.0.1": "excludes --otlp-endpoint",
		"--in-memory --clock=virtual --listen=" + l.Addr().String():    "taken by another process",
		"--in-memory --clock=virtual --client-ca-file=/does/not/exist": "no such file",
	} {
		dir := t.TempDir()
		cmd := exec.Command(bin.fairlead, append([]string{"up", "--data-dir", dir + "/data"}, strings.Fields(args)...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s left %v, %v", args, left, err)
		}
	}
	p := up(t, t.TempDir(), "--in-memory")
	if _, errs, code := p.tryClock("advance", "1m"); code != 1 || !strings.Contains(errs, "start it with --clock=virtual") {
		t.Errorf("a clock in real time: exit %d: %s", code, errs)
	}
	p.stop()
}
