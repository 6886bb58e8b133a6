package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// assets makes a folder for envtest.
func assets(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "assets")
	cmd := exec.Command(bin.fairlead, "assets", "--env", dir)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin.kubectl)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "export KUBEBUILDER_ASSETS="+dir+"\n" {
		t.Fatalf("fairlead assets: %v\n%s", err, out)
	}
	return dir
}

// startEnvtest starts envtest's control plane and stops it with the test.
func startEnvtest(t *testing.T, env *envtest.Environment) *kubernetes.Clientset {
	t.Helper()
	env.BinaryAssetsDirectory = assets(t)
	env.ControlPlaneStartTimeout, env.ControlPlaneStopTimeout = patience, patience
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEnvtest does with envtest's control plane what suites do: users, tokens, definitions, kubectl.
func TestEnvtest(t *testing.T) {
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgets()}}
	c := startEnvtest(t, env)
	namespace, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("custom resource", func(t *testing.T) {
		d, err := dynamic.NewForConfig(env.Config)
		if err != nil {
			t.Fatal(err)
		}
		gadget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "shop.example.com/v1", "kind": "Gadget", "metadata": map[string]any{"name": "one"}}}
		resource := d.Resource(schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "gadgets"}).Namespace(namespace.Name)
		if _, err := resource.Create(t.Context(), gadget, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("user", func(t *testing.T) {
		user, err := env.AddUser(envtest.User{Name: "ada", Groups: []string{"devs"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ada, err := kubernetes.NewForConfig(user.Config())
		if err != nil {
			t.Fatal(err)
		}
		who, err := ada.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || who.Status.UserInfo.Username != "ada" || !slices.Contains(who.Status.UserInfo.Groups, "devs") {
			t.Errorf("the user is %+v: %v", who, err)
		}
		if _, err := ada.CoreV1().Secrets(namespace.Name).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a user without a role lists Secrets: %v", err)
		}
	})
	t.Run("token", func(t *testing.T) {
		accounts := c.CoreV1().ServiceAccounts(namespace.Name)
		if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		token, err := accounts.CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		config := rest.AnonymousClientConfig(env.Config)
		config.BearerToken = token.Status.Token
		robot, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		who, err := robot.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || who.Status.UserInfo.Username != "system:serviceaccount:"+namespace.Name+":robot" {
			t.Errorf("the user is %+v: %v", who, err)
		}
	})
	t.Run("service", func(t *testing.T) {
		s, err := c.CoreV1().Services(namespace.Name).Create(t.Context(), &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}, metav1.CreateOptions{})
		if err != nil || !strings.HasPrefix(s.Spec.ClusterIP, "10.0.0.") {
			t.Errorf("the cluster IP is not of --service-cluster-ip-range: %+v, %v", s, err)
		}
	})
	t.Run("pod without service account", func(t *testing.T) {
		_, err := c.CoreV1().Pods(namespace.Name).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Errorf("envtest disables the admission plugin ServiceAccount: %v", err)
		}
	})
	t.Run("kubectl", func(t *testing.T) {
		admin, err := env.AddUser(envtest.User{Name: "root", Groups: []string{"system:masters"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		kubectl, err := admin.Kubectl()
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, err := kubectl.Run("get", "pods", "-n", namespace.Name, "-o", "name")
		if err != nil {
			t.Fatal(err, stderr)
		}
		text, err := io.ReadAll(stdout)
		if err != nil || string(text) != "pod/web\n" {
			t.Errorf("kubectl get pods prints %q: %v", text, err)
		}
	})
}

// gadgets is the definition of a custom resource.
func gadgets() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.shop.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "shop.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget", ListKind: "GadgetList", Singular: "gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}},
			}},
		},
	}
}

// TestEnvtestWebhook refuses objects by a webhook that envtest installs.
func TestEnvtestWebhook(t *testing.T) {
	sideEffects, path, fail := admissionregistrationv1.SideEffectClassNone, "/refuse", admissionregistrationv1.Fail
	env := &envtest.Environment{WebhookInstallOptions: envtest.WebhookInstallOptions{
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "refuse"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "refuse.shop.example.com", SideEffects: &sideEffects, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "webhook", Path: &path}},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}},
			}},
		}},
	}}
	c := startEnvtest(t, env)
	o := env.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir})
	server.Register(path, &webhook.Admission{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Denied("the shop is closed")
	})})
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	started := server.StartedChecker()
	eventually(t, "the webhook serves", func() bool { return started(nil) == nil })
	_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "the shop is closed") {
		t.Errorf("the webhook was not asked: %v", err)
	}
}

// TestEnvtestRestart stops and starts the API server alone, as suites about outages do: the objects stay.
func TestEnvtestRestart(t *testing.T) {
	env := &envtest.Environment{}
	c := startEnvtest(t, env)
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	api := env.ControlPlane.GetAPIServer()
	api.CertDir = t.TempDir() // one that Stop leaves; its certificates are those of the clients
	if err := api.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := api.Start(); err != nil {
		t.Fatal(err)
	}
	user, err := env.ControlPlane.AddUser(envtest.User{Name: "root", Groups: []string{"system:masters"}}, &rest.Config{QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	again, err := kubernetes.NewForConfig(user.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("after a restart of the API server: %v", err)
	}
}

// TestEnvtestControllers runs controllers, scheduler and nodes in envtest's control plane.
func TestEnvtestControllers(t *testing.T) {
	t.Setenv("FAIRLEAD_CONTROLLERS", "*")
	t.Setenv("FAIRLEAD_NODES", "2")
	c := startEnvtest(t, &envtest.Environment{})
	labels := map[string]string{"app": "web"}
	replicas := int32(2)
	_, err := c.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment is ready", func() bool {
		d, err := c.AppsV1().Deployments("default").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == replicas
	})
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace has ended", func() bool {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// TestAssetsRefused leaves the programs of others alone.
func TestAssetsRefused(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "etcd")
	if err := os.WriteFile(own, []byte("another program"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin.fairlead, "assets", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), own+" is not from fairlead assets") {
		t.Errorf("fairlead assets over another's program: %v\n%s", err, out)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
}

// TestKubeAPIServerRefused starts nothing with a flag that is wrong or not supported, and names the flag.
func TestKubeAPIServerRefused(t *testing.T) {
	program := filepath.Join(assets(t), "kube-apiserver")
	for _, c := range []struct {
		flag, want string
		code       int
	}{
		{"--no-such-flag", "unknown flag: --no-such-flag", 2},
		{"--egress-selector-config-file=egress.yaml", "--egress-selector-config-file=egress.yaml: not supported", 2},
		{"--oidc-issuer-url=https://idp.example.com", "oidc-issuer-url and oidc-client-id must be specified together", 1},
		{"--authorization-mode=ABAC", "--authorization-mode=ABAC and --authorization-policy-file: want both or neither", 1},
		{"--enable-admission-plugins=Nonsense", `enable-admission-plugins plugin "Nonsense" is unknown`, 1},
		{"--disable-admission-plugins=Nonsense", `disable-admission-plugins plugin "Nonsense" is unknown`, 1},
		{"--feature-gates=Nonsense=true", "unrecognized feature gate: Nonsense", 1},
		{"--runtime-config=nonsense/v1=true", "Fairlead does not serve nonsense/v1", 1},
		{"--service-cluster-ip-range=nonsense", "--service-cluster-ip-range[0] is not a valid cidr", 1},
		{"--secure-port=0", "--secure-port=0: want a port between 1 and 65535", 1},
		{"--token-auth-file=/no/such/file", "token file: /no/such/file", 1},
		{"--client-ca-file=/no/such/file", "client CA: /no/such/file", 1},
		{"--emulated-version=1.20", "emulation version 1.20 is not between [1.33, 1.37.0]", 1},
	} {
		dir := t.TempDir()
		etcd, data := standIn(t)
		port := freePort(t)
		args := []string{"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--secure-port=" + port, "--cert-dir=" + dir, c.flag}
		out, err := exec.Command(program, args...).CombinedOutput()
		code := 0
		if exit, ok := err.(*exec.ExitError); ok {
			code = exit.ExitCode()
		}
		if code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: exit code %d, want %d: %s", c.flag, code, c.code, out)
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err != nil {
			t.Errorf("%s: %v", c.flag, err)
		} else {
			l.Close()
		}
		if left, _ := os.ReadDir(data); len(left) > 0 {
			t.Errorf("%s: left behind %v", c.flag, left)
		}
	}
}

// standIn starts an etcd of fairlead assets, and returns its URL and its data directory.
func standIn(t *testing.T) (address, data string) {
	t.Helper()
	data = t.TempDir()
	address = "http://127.0.0.1:" + freePort(t)
	cmd := exec.Command(filepath.Join(assets(t), "etcd"), "--listen-client-urls="+address, "--data-dir="+data, "--unsafe-no-fsync")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	health, err := url.JoinPath(address, "health")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "etcd answers", func() bool {
		res, err := http.Get(health)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return address, data
}

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
