package images

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func load(t *testing.T, text string) (*Behaviors, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "images.yaml")
	if err := os.WriteFile(path, []byte("apiVersion: config.fairlead.dev/v1alpha1\nkind: ImageBehaviors\nimages:\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestPatterns(t *testing.T) {
	b, err := load(t, `
- {image: "registry.example.com/*/train:v?", size: 1}
- {image: train, size: 2}
- {image: "*-worker", size: 3}
`)
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]int64{
		"registry.example.com/team/a/train:v1": 1,
		"registry.example.com/team/train:v10":  0,
		"train":                                2,
		"train:2":                              2,
		"train@sha256:ab":                      2,
		"other/train":                          0,
		"localhost:5000/mail-worker:3":         3,
		"mail-worker-2":                        0,
	} {
		got := int64(0)
		if of := b.Of(image); of != nil {
			got = of.Size.Value()
		}
		if got != want {
			t.Errorf("%s has behavior %d, want %d", image, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"- {size: 1}":                                                     "images[0].image: Required value",
		"- {image: a, tiem: 1s}":                                          `unknown field "tiem"`,
		"- {image: a, runTime: 5}":                                        "5: want a time such as 30s",
		"- {image: a, runTime: 5m..1m}":                                   `"5m..1m": want a time such as 30s, a range such as 30s..1m, or forever`,
		"- {image: a, pullTime: forever}":                                 "images[0].pullTime: Invalid value",
		"- {image: a, size: 0}":                                           "images[0].size: Invalid value",
		"- {image: a, exits: [{code: 256}]}":                              "images[0].exits[0].code: Invalid value: 256",
		"- {image: a, exits: [{code: 1, weight: 0}]}":                     "images[0].exits: Invalid value: 0",
		"- {image: a, usage: [{after: 1m, cpu: 1}, {after: 1m, cpu: 2}]}": "images[0].usage[1].after: Invalid value",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestChance: exits come as often as their weights demand, times are spread over their range, and a run is always the same.
func TestChance(t *testing.T) {
	b, err := load(t, `
- image: train
  runTime: 10s..20s
  exits: [{code: 0, weight: 90}, {code: 137, reason: OOMKilled, weight: 10}]
`)
	if err != nil {
		t.Fatal(err)
	}
	of := b.Of("train")
	const runs = 10_000
	var sum time.Duration
	killed := 0
	for i := range int32(runs) {
		run := Run{Pod: types.UID("9ef329de-accd-42b6-bd56-577e1698d4d5"), Container: "main", Restarts: i}
		d, ends := of.RunFor(run)
		if again, _ := of.RunFor(run); !ends || d < 10*time.Second || d > 20*time.Second || again != d {
			t.Fatal(d, again, ends)
		}
		sum += d
		if e := of.Exit(run); e.Code == 137 && e.Reason == "OOMKilled" {
			killed++
		}
	}
	// Four standard deviations of a binomial distribution, and of a mean of uniform ones.
	if math.Abs(float64(killed)-runs*0.1) > 4*math.Sqrt(runs*0.1*0.9) {
		t.Errorf("%d of %d runs were killed, want a tenth", killed, runs)
	}
	if mean := sum.Seconds() / runs; math.Abs(mean-15) > 4*10/math.Sqrt(12*runs) {
		t.Errorf("the mean of the times is %gs, want 15s", mean)
	}
}

func TestUsage(t *testing.T) {
	b, err := load(t, `
- image: train
  usage: [{after: 0s, cpu: 100m, memory: 1Gi, emptyDirs: {cache: 0}}, {after: 1m, cpu: "2"}, {after: 2m, memory: 3Gi, emptyDirs: {cache: 4Gi}}]
`)
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration][3]string{
		0: {"100m", "1Gi", "0"}, 30 * time.Second: {"1050m", "1536Mi", "1Gi"}, time.Minute: {"2", "2Gi", "2Gi"}, time.Hour: {"2", "3Gi", "4Gi"},
	} {
		cpu, _ := b.Of("train").Use(corev1.ResourceCPU, after)
		memory, _ := b.Of("train").Use(corev1.ResourceMemory, after)
		cache, _ := b.Of("train").Use(EmptyDir("cache"), after)
		if got := [3]string{cpu.String(), memory.String(), cache.String()}; got != want {
			t.Errorf("after %s: %v, want %v", after, got, want)
		}
	}
	for _, name := range []corev1.ResourceName{"example.com/gpu", "cache", EmptyDir("tmp")} {
		if _, ok := b.Of("train").Use(name, 0); ok {
			t.Errorf("the usage of %s, which has no points, is known", name)
		}
	}
}

// TestExceeds: the time at which a limit is exceeded is on the line between two points.
func TestExceeds(t *testing.T) {
	at := func(after time.Duration, memory string) Point {
		q := resource.MustParse(memory)
		return Point{After: metav1.Duration{Duration: after}, Memory: &q}
	}
	b := Behavior{Usage: []Point{at(0, "1Gi"), at(time.Minute, "3Gi"), at(2*time.Minute, "2Gi")}}
	for limit, want := range map[string]time.Duration{"512Mi": 0, "2Gi": 30 * time.Second, "3Gi": -1} {
		after, ok := b.Exceeds(corev1.ResourceMemory, resource.MustParse(limit))
		if !ok {
			after = -1
		}
		if after != want {
			t.Errorf("%s: after %v, want %v", limit, after, want)
		}
	}
}
