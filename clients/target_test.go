package clients_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"fairlead.dev/testenv"
)

// target is the control plane under test: one of ours, started by the test, or that of
// CLIENTS_KUBECONFIG.
type target struct {
	kubeconfig string
	config     *rest.Config
	ours       bool
}

func newTarget(t *testing.T) target {
	t.Helper()
	if path := os.Getenv("CLIENTS_KUBECONFIG"); path != "" {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		if err != nil {
			t.Fatal(err)
		}
		config.QPS = -1
		return target{kubeconfig: path, config: config}
	}
	env := testenv.New(t, testenv.Options{})
	return target{kubeconfig: env.KubeconfigPath(), config: env.Config(), ours: true}
}

// fatal is the value of the panic in place of kubectl's exit after a failure.
type fatal struct {
	message string
	code    int
}

func TestMain(m *testing.M) {
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(fatal{message, code}) })
	os.Setenv("KUBERC", "off")
	log.SetLogger(logr.Discard())
	rest.SetDefaultWarningHandler(rest.NoWarnings{})      // kubectl's code sets its own
	if path := os.Getenv("CLIENTS_KUBECTL"); path != "" { // see kubectl.apart
		k := kubectl{target: target{kubeconfig: path}, dir: os.Getenv("CLIENTS_DIR"), ns: os.Getenv("CLIENTS_NS")}
		os.Exit(k.execute(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}, os.Args[1:]))
	}
	os.Exit(m.Run())
}
