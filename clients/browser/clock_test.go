package browser

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/client"
	"github.com/chromedp/chromedp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// virtual starts a browser, and the program on a virtual clock, of which a process can have only one.
func virtual(t *testing.T) (b *fixture, server, page string) {
	t.Helper()
	chromium(t) // or skip
	dir := t.TempDir()
	build := exec.Command("go", "build", "-C", "../..", "-o", dir+"/", "./cmd/fairlead")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(dir, "fairlead"), "up", "--in-memory", "--clock=virtual", "--nodes=2", "--data-dir", filepath.Join(dir, "data"), "--listen=127.0.0.1:0", "-o", "json")
	cmd.Env, cmd.Stderr = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "KUBECONFIG="+filepath.Join(dir, "none")), os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal("no ready line: ", err)
	}
	go io.Copy(io.Discard, stdout)
	var ready struct{ Server, Page, Kubeconfig string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", ready.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	b = newBrowser(t)
	if b.client, err = client.New(config, client.Options{UserAgent: "kubectl"}); err != nil {
		t.Fatal(err)
	}
	return b, ready.Server, ready.Page
}

// TestClock advances a virtual clock by the page.
func TestClock(t *testing.T) {
	b, server, page := virtual(t)
	b.enter(t, page)
	b.until(t, `document.querySelector('#tabs [data-view=clock]') && !document.querySelector('#tabs [data-view=faults]')`)
	b.open(t, "#/faults")
	b.until(t, `document.querySelector('main').textContent.includes('--allow-faults')`)
	b.do(t, chromedp.Click(`#tabs [data-view=clock]`))
	b.until(t, `/^\d{4}-\d\d-\d\d /.test(document.querySelector('.clock')?.textContent)`)
	b.advance(t, "1s", "1 s")
	t.Run("by an hour", func(t *testing.T) { b.hourly(t) })
	t.Run("until", func(t *testing.T) { b.runUntil(t) })
	t.Run("stop", func(t *testing.T) { b.stopClock(t) })
	t.Run("read only", func(t *testing.T) { b.noClock(t, server) })
}

// advance advances the clock by a duration, which the page writes as told.
func (b *fixture) advance(t *testing.T, by, told string) {
	t.Helper()
	b.do(t, fill(`.clocks form:nth-of-type(1) input`, by))
	b.until(t, `document.querySelector('.clocks .command').textContent === 'fairlead clock advance %s'`, by)
	b.do(t, chromedp.Click(`.clocks form:nth-of-type(1) [type=submit]`))
	b.until(t, `document.querySelector('.outcome').textContent.startsWith('%s passed')`, told)
}

func jobOf(command ...string) batchv1.JobSpec {
	return batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "busybox", Command: command}}}}}
}

// hourly: an hour makes an hourly CronJob run, once, on the hour.
func (b *fixture) hourly(t *testing.T) {
	if _, err := client.For[*batchv1.CronJob](b.client).Namespace("default").Create(t.Context(), &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "hourly"},
		Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: jobOf("true")}}}); err != nil {
		t.Fatal(err)
	}
	jobs := client.For[*batchv1.Job](b.client).Namespace("default")
	if list, err := jobs.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Fatalf("before the hour there are Jobs: %v, %v", list, err)
	}
	b.advance(t, "1h", "1 h")
	list, err := jobs.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("after an hour there are Jobs: %+v, %v", list, err)
	}
	if made := list.Items[0].CreationTimestamp.Time; !made.Truncate(time.Hour).Equal(made) {
		t.Errorf("the Job is of %v", made)
	}
	b.axe(t, "clock")
	if *shots != "" {
		b.shot(t, "dark-clock")
		b.on(t, screen{"narrow", "dark", 390, 844})
		b.shot(t, "narrow-clock")
		b.on(t, axeScreens[0])
	}
	b.do(t, chromedp.Click(`.outcome a`))
	b.until(t, `location.hash.startsWith('#/events?from=') && document.querySelector('.list').textContent.includes('hourly')`)
	// The session and the ages of the page go by their own times.
	b.open(t, "#/clock")
	b.until(t, `document.querySelector('.clocks form')`)
	b.advance(t, "24h", "24 h")
	b.open(t, "#/browse/cronjobs.batch")
	b.until(t, `document.querySelector('.list .age')?.textContent === '25h'`)
}

// runUntil: the clock stops when a Job is complete, and fails at its limit.
func (b *fixture) runUntil(t *testing.T) {
	jobs := client.For[*batchv1.Job](b.client).Namespace("default")
	if _, err := jobs.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "sleeps"}, Spec: jobOf("sleep", "3000")}); err != nil {
		t.Fatal(err)
	}
	b.open(t, "#/clock")
	b.until(t, `document.querySelector('.clocks select')?.value === 'jobs.batch'`)
	input := func(label string) string {
		return `[...document.querySelectorAll('.clocks .field')].find((l) => l.firstChild.textContent === '` + label + `').children[1]`
	}
	set := func(label, value string) {
		b.do(t, evaluate(`((i) => { i.value = '`+value+`'; i.dispatchEvent(new Event('input', { bubbles: true })); })(`+input(label)+`)`))
	}
	set("Name", "sleeps")
	set("Condition", "Complete")
	set("Limit", "5m")
	run := `.clocks form:nth-of-type(2) `
	b.until(t, `document.querySelector('%s.command').textContent === 'fairlead clock run --until=condition=Complete job/sleeps -n default --limit=5m'`, run)
	b.do(t, chromedp.Click(run+`[type=submit]`))
	b.until(t, `document.querySelector('.outcome').textContent.includes('does not meet the condition')`)
	set("Limit", "24h")
	set("Until it", "jsonpath")
	set("Field", "{.status.succeeded}")
	set("Value", "1")
	b.until(t, `document.querySelector('%s.command').textContent === "fairlead clock run '--until=jsonpath={.status.succeeded}=1' job/sleeps -n default"`, run)
	b.do(t, chromedp.Click(run+`[type=submit]`))
	b.until(t, `/^4[45] min .*passed/.test(document.querySelector('.outcome').textContent)`)
	if j, err := jobs.Get(t.Context(), "sleeps", metav1.GetOptions{}); err != nil || j.Status.Succeeded != 1 {
		t.Errorf("the Job: %+v, %v", j, err)
	}
}

// stopClock: an advance is stopped where it is, also after one has looked at another view.
func (b *fixture) stopClock(t *testing.T) {
	b.do(t, fill(`.clocks form:nth-of-type(1) input`, "1000000h"), chromedp.Click(`.clocks form:nth-of-type(1) [type=submit]`))
	b.until(t, `document.querySelector('.outcome').textContent === 'The clock is moving…'`)
	b.open(t, "#/queues")
	b.until(t, `document.querySelector('.queues')`)
	b.open(t, "#/clock")
	b.until(t, `document.querySelector('.clocks .buttons button')?.checkVisibility() && document.querySelector('.clocks [type=submit]').disabled`)
	b.do(t, chromedp.Click(`.clocks .buttons button`))
	b.until(t, `document.querySelector('.outcome').textContent.startsWith('Stopped: ') && !document.querySelector('.clocks [type=submit]').disabled`)
}

// noClock: a user with rights to read alone is not offered the clock, and the server refuses its advance too.
func (b *fixture) noClock(t *testing.T, server string) {
	b.enter(t, server+b.reader(t))
	b.open(t, "#/clock")
	b.until(t, `document.querySelector('main').textContent === 'You may not advance the clock of this server.'`)
	if get[bool](t, b, `document.querySelector('#tabs [data-view=clock]') !== null`) {
		t.Error("a reader is offered the clock")
	}
	if code := b.status(t, "POST", "/debug/clock"); code != 403 {
		t.Errorf("the server answers a reader's advance with %d", code)
	}
}
