package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	configv1 "k8s.io/kube-scheduler/config/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/test/integration/fairlead"
	"k8s.io/utils/clock"
)

// fairleadProcess runs fairlead's scheduler in place of this one, whose cache and queue then only follow the API server.
type fairleadProcess struct {
	options schedulerOptions
	client  atomic.Pointer[restclient.RESTClient]
	skip    func(args ...any)
}

// For makes the scheduler's test skip itself if it needs the scheduler in its own process, and says why.
func (sched *Scheduler) For(t interface{ Skip(args ...any) }) {
	if !fairlead.Schedules {
		return
	}
	sched.fairlead.skip = t.Skip
	switch o := sched.fairlead.options; {
	case slices.ContainsFunc(slices.Collect(maps.Keys(o.frameworkOutOfTreeRegistry)), func(name string) bool { return !leftOut(name) }):
		t.Skip("IN PROCESS: plugins of the test")
	case o.clock != clock.WithTicker(clock.RealClock{}):
		t.Skip("IN PROCESS: a clock of the test")
	case o.podMaxInUnschedulablePodsDuration != defaultSchedulerOptions.podMaxInUnschedulablePodsDuration:
		t.Skip("IN PROCESS: another time in the queue, which is no part of a KubeSchedulerConfiguration")
	case o.nodeInfoSnapshot != nil:
		t.Skip("IN PROCESS: a snapshot of the test")
	case o.frameworkCapturer != nil:
		t.Skip("IN PROCESS: profiles that the test captures")
	}
}

// cyclesElsewhere is called where a test runs a cycle of the scheduler itself.
func (sched *Scheduler) cyclesElsewhere() {
	if fairlead.Schedules && sched.fairlead.skip != nil {
		sched.fairlead.skip("IN PROCESS: cycles that the test runs")
	}
}

// runFairlead runs fairlead's scheduler until ctx ends. It returns false if this scheduler is to run.
func (sched *Scheduler) runFairlead(ctx context.Context) bool {
	if !fairlead.Schedules {
		return false
	}
	if err := sched.fairlead.run(ctx); err != nil && ctx.Err() == nil {
		panic(fmt.Sprintf("fairlead scheduler: %v", err))
	}
	return true
}

func (p *fairleadProcess) run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fairlead-integration-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config, err := p.configuration()
	if err != nil {
		return err
	}
	configFile, kubeconfig, logFile := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "log")
	if kept := os.Getenv("FAIRLEAD_INTEGRATION_LOGS"); kept != "" {
		logFile = filepath.Join(kept, filepath.Base(dir)+".log")
		os.WriteFile(filepath.Join(kept, filepath.Base(dir)+".yaml"), config, 0o600)
	}
	if err := os.WriteFile(configFile, config, 0o600); err != nil {
		return err
	}
	if err := writeKubeconfig(p.options.kubeConfig, kubeconfig); err != nil {
		return err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return err
	}
	defer log.Close()
	port, err := freePort()
	if err != nil {
		return err
	}
	_, stop, err := fairlead.Start(log, append([]string{
		"scheduler", "--leader-elect=false", "--kubeconfig=" + kubeconfig, "--config=" + configFile, "--v=4",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
	}, fairlead.SchedulerFlags()...)...)
	if err != nil {
		return err
	}
	defer stop()
	own := restclient.CopyConfig(p.options.kubeConfig)
	own.Host = fmt.Sprintf("https://127.0.0.1:%d", port)
	own.WrapTransport = nil
	own.TLSClientConfig.Insecure, own.TLSClientConfig.CAData, own.TLSClientConfig.CAFile = true, nil, ""
	own.GroupVersion, own.NegotiatedSerializer = &configv1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	client, err := restclient.UnversionedRESTClientFor(own)
	if err != nil {
		return err
	}
	p.client.Store(client)
	<-ctx.Done()
	return nil
}

var cachedNodes = regexp.MustCompile(`(?m)^scheduler_cache_size\{type="nodes"\} (\S+)$`)

// HasNodes reports whether the scheduler knows of so many nodes.
func (sched *Scheduler) HasNodes(ctx context.Context, count int) bool {
	if sched.Cache.NodeCount() < count {
		return false
	}
	client := sched.fairlead.client.Load()
	if client == nil {
		return true
	}
	text, err := client.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return false
	}
	found := cachedNodes.FindSubmatch(text)
	if found == nil {
		return false
	}
	nodes, err := strconv.ParseFloat(string(found[1]), 64)
	return err == nil && int(nodes) >= count
}

// configuration returns the options of the scheduler as a KubeSchedulerConfiguration.
func (p *fairleadProcess) configuration() ([]byte, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var c schedulerapi.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &c, nil); err != nil {
		return nil, err
	}
	o := p.options
	for i := range o.profiles {
		o.profiles[i].Plugins = withoutLeftOut(o.profiles[i].Plugins)
	}
	c.LeaderElection.LeaderElect = false
	c.Profiles, c.Extenders, c.Parallelism = o.profiles, o.extenders, o.parallelism
	c.PercentageOfNodesToScore = &o.percentageOfNodesToScore
	// A KubeSchedulerConfiguration has no shorter backoff than a second.
	c.PodInitialBackoffSeconds, c.PodMaxBackoffSeconds = max(o.podInitialBackoffSeconds, 1), max(o.podMaxBackoffSeconds, 1)
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	if !ok {
		return nil, errors.New("there is no YAML")
	}
	var out bytes.Buffer
	err := scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion).Encode(&c, &out)
	return out.Bytes(), err
}

// leftOut reports whether fairlead's scheduler does without a plugin of the test, which admits all pods in the tests that run.
func leftOut(plugin string) bool {
	return slices.Contains(strings.Split(os.Getenv("FAIRLEAD_INTEGRATION_LEAVE_OUT"), ","), plugin)
}

func withoutLeftOut(plugins *schedulerapi.Plugins) *schedulerapi.Plugins {
	if plugins = plugins.DeepCopy(); plugins == nil {
		return nil
	}
	for _, point := range reflect.ValueOf(plugins).Elem().Fields() {
		if set, ok := point.Addr().Interface().(*schedulerapi.PluginSet); ok {
			set.Enabled = slices.DeleteFunc(set.Enabled, func(p schedulerapi.Plugin) bool { return leftOut(p.Name) })
		}
	}
	return plugins
}

// writeKubeconfig writes the way to the API server.
func writeKubeconfig(config *restclient.Config, file string) error {
	if config == nil {
		return errors.New("the test gives its scheduler no way to the API server")
	}
	k := clientcmdapi.NewConfig()
	k.Clusters["it"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData, CertificateAuthority: config.CAFile}
	k.AuthInfos["it"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientCertificate: config.CertFile,
		ClientKeyData: config.KeyData, ClientKey: config.KeyFile, Token: config.BearerToken,
	}
	k.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	k.CurrentContext = "it"
	return clientcmd.WriteToFile(*k, file)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
