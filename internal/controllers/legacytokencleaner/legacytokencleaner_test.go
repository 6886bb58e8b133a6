package legacytokencleaner_test

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/legacytokencleaner"
	"fairlead.dev/testenv"
)

const (
	lastUsed     = "kubernetes.io/legacy-token-last-used"
	day          = 24 * time.Hour
	invalidSince = "kubernetes.io/legacy-token-invalid-since"
)

// TestUnusedTokens lets years pass: tokens that an account lists become invalid when the time is up without use, and go after
// another; tokens that are used, that a pod mounts, or that a user made, stay.
func TestUnusedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{
			Bubble: true, NoScheduler: true, NoNodes: true, Controllers: []string{"serviceaccounttoken"},
		})
		c := env.Client(t)
		own := controller.Env{Client: c, Informers: informer.NewSet(c), Log: slog.New(slog.DiscardHandler)}
		cleaner := legacytokencleaner.New(own, legacytokencleaner.Options{Unused: 2 * day})
		own.Informers.Start(t.Context())
		var running sync.WaitGroup
		running.Go(func() { cleaner.Run(t.Context()) })
		t.Cleanup(func() { running.Wait(); own.Informers.Stop() })
		core := kubernetes.NewForConfigOrDie(env.Config()).CoreV1()
		secrets, accounts := core.Secrets("default"), core.ServiceAccounts("default")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		listed := []string{"mounted", "unused", "used"}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		for _, name := range listed {
			account.Secrets = append(account.Secrets, corev1.ObjectReference{Name: name})
		}
		_, err := accounts.Create(t.Context(), account, metav1.CreateOptions{})
		must(err)
		for _, name := range append(listed, "manual") {
			_, err := secrets.Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: "old"}},
				Type:       corev1.SecretTypeServiceAccountToken,
			}, metav1.CreateOptions{})
			must(err)
		}
		no := false
		_, err = core.Pods("default").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"},
			Spec: corev1.PodSpec{
				ServiceAccountName: "old", AutomountServiceAccountToken: &no, Containers: []corev1.Container{{Name: "main", Image: "web"}},
				Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "mounted"}}}},
			},
		}, metav1.CreateOptions{})
		must(err)
		time.Sleep(time.Second)

		get := func(name string) *corev1.Secret {
			t.Helper()
			s, err := secrets.Get(t.Context(), name, metav1.GetOptions{})
			must(err)
			return s
		}
		use := func(name string) error {
			config := rest.AnonymousClientConfig(env.Config())
			config.BearerToken = string(get(name).Data["token"])
			reviews := kubernetes.NewForConfigOrDie(config).AuthenticationV1().SelfSubjectReviews()
			_, err := reviews.Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			return err
		}
		must(use("used"))
		today := time.Now().UTC().Format(time.DateOnly)
		first := get("used")
		if first.Labels[lastUsed] != today {
			t.Errorf("a used token has the labels %v", first.Labels)
		}
		must(use("used"))
		if again := get("used"); again.ResourceVersion != first.ResourceVersion {
			t.Error("a second use of the day has written the Secret")
		}
		exist := func(when string, want ...string) {
			t.Helper()
			list, err := secrets.List(t.Context(), metav1.ListOptions{})
			must(err)
			have := map[string]bool{}
			for _, s := range list.Items {
				have[s.Name] = true
			}
			if got := slices.Sorted(maps.Keys(have)); !slices.Equal(got, want) {
				t.Errorf("%s there are %q", when, got)
			}
		}
		for range 8 {
			time.Sleep(day / 2)
			must(use("used"))
		}
		exist("when the time is up", "manual", "mounted", "unused", "used")
		for _, name := range []string{"manual", "mounted", "used"} {
			if s := get(name); s.Labels[invalidSince] != "" {
				t.Errorf("%s has the labels %v", name, s.Labels)
			}
		}
		if s := get("unused"); s.Labels[invalidSince] == "" {
			t.Fatalf("unused has the labels %v", s.Labels)
		}
		if err := use("unused"); !apierrors.IsUnauthorized(err) {
			t.Errorf("an invalid token: %v", err)
		}
		if got := get("unused").Labels[lastUsed]; got != time.Now().UTC().Format(time.DateOnly) {
			t.Errorf("the attempt to use an invalid token is not recorded: %q", got)
		}
		for range 8 {
			time.Sleep(day / 2)
			must(use("used"))
		}
		exist("when it is up again", "manual", "mounted", "used")
	})
}
