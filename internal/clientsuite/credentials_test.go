package clientsuite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientauthentication "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/client"
)

// pluginDir is the variable by which this program knows that it is run as the plugin of a
// kubeconfig, as aws, gke-gcloud-auth-plugin or kubelogin are.
const pluginDir = "CLIENTSUITE_PLUGIN"

// plugin prints the credential that lies in dir, and notes that it was asked, and for
// which cluster.
func plugin(dir string) error {
	var asked clientauthentication.ExecCredential
	if err := json.Unmarshal([]byte(os.Getenv("KUBERNETES_EXEC_INFO")), &asked); err != nil {
		return err
	}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer calls.Close()
	if _, err := fmt.Fprintln(calls, asked.Spec.Cluster.Server); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "credential"))
	if err != nil {
		return err
	}
	var status clientauthentication.ExecCredentialStatus
	if err := json.Unmarshal(text, &status); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(clientauthentication.ExecCredential{TypeMeta: asked.TypeMeta, Status: &status})
}

// plugged is access by a plugin whose next credential can be set.
type plugged struct {
	dir    string
	server string
	config *rest.Config
}

func newPlugged(t *testing.T, version, server string, tls api.Cluster) *plugged {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &plugged{dir: t.TempDir(), server: server}
	tls.Server = server
	p.config = load(t, &tls, &api.AuthInfo{Exec: &api.ExecConfig{
		APIVersion: "client.authentication.k8s.io/" + version, Command: program, InteractiveMode: api.NeverExecInteractiveMode,
		Env: []api.ExecEnvVar{{Name: pluginDir, Value: p.dir}}, ProvideClusterInfo: true,
	}})
	return p
}

func (p *plugged) gives(t *testing.T, s clientauthentication.ExecCredentialStatus, expired bool) {
	t.Helper()
	if expired {
		at := metav1.NewTime(time.Now().Add(-time.Minute))
		s.ExpirationTimestamp = &at
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(p.dir, "credential"), text)
}

// asked is how often the plugin was asked so far, each time for the right cluster.
func (p *plugged) asked(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	calls := strings.Fields(string(b))
	for _, server := range calls {
		if server != p.server {
			t.Errorf("the plugin was asked for %s, want %s", server, p.server)
		}
	}
	return len(calls)
}

// load takes access through a kubeconfig file, as kubectl reads it.
func load(t *testing.T, cluster *api.Cluster, user *api.AuthInfo) *rest.Config {
	t.Helper()
	file := api.NewConfig()
	file.Clusters["c"], file.AuthInfos["u"] = cluster, user
	file.Contexts["x"], file.CurrentContext = &api.Context{Cluster: "c", AuthInfo: "u"}, "x"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// trusted is how the server is trusted.
func trusted() api.Cluster {
	c := target.config
	return api.Cluster{Server: c.Host, CertificateAuthority: c.CAFile, CertificateAuthorityData: c.CAData, InsecureSkipTLSVerify: c.Insecure}
}

// account makes a service account and returns its name as a user, and a token.
func account(t *testing.T, ns, name string) (user, token string) {
	t.Helper()
	accounts := client.For[*corev1.ServiceAccount](connect(t, nil, client.Options{})).Namespace(ns)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	var answer authenticationv1.TokenRequest
	if err := accounts.CreateSubresource(t.Context(), name, "token", &authenticationv1.TokenRequest{}, &answer); err != nil {
		t.Fatal(err)
	}
	return "system:serviceaccount:" + ns + ":" + name, answer.Status.Token
}

// TestTokensOfAPlugin: a kubeconfig's plugin runs when there is no token, when the token
// has expired and when the server has refused it, and only then.
func TestTokensOfAPlugin(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			ns := newNamespace(t)
			crab, crabs := account(t, ns, "crab")
			lobster, lobsters := account(t, ns, "lobster")
			type token = clientauthentication.ExecCredentialStatus
			p := newPlugged(t, version, target.config.Host, trusted())
			c := connect(t, p.config, client.Options{})

			p.gives(t, token{Token: crabs}, true)
			is(t, c, crab)
			p.gives(t, token{Token: "nonsense"}, false)
			_, err := whoami(t, c)
			refused(t, "nonsense, when the crab's has expired", err, client.ErrUnauthorized)
			p.gives(t, token{Token: lobsters}, false)
			before := p.asked(t)
			_, err = whoami(t, c)
			refused(t, "nonsense once more", err, client.ErrUnauthorized)
			is(t, c, lobster)
			is(t, c, lobster)
			is(t, connect(t, p.config, client.Options{}), lobster)
			if n := p.asked(t) - before; n != 1 {
				t.Errorf("the plugin was asked %d times, want once, for a token that was refused", n)
			}
		})
	}
}
