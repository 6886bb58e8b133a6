package extenders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

const (
	// defaultTimeout bounds a call of an extender without an httpTimeout.
	defaultTimeout = 5 * time.Second
	// maxAnswer bounds the answer of an extender, in bytes; one about 5,000 nodes as objects is smaller.
	maxAnswer = 256 << 20
)

// Extender is an extender of a configuration.
type Extender struct {
	configv1.Extender
	http *http.Client
}

// New returns the extender of a valid configuration. Its error is about the files of TLS.
func New(c configv1.Extender) (*Extender, error) {
	config := rest.Config{}
	if t := c.TLSConfig; t != nil {
		config.TLSClientConfig = rest.TLSClientConfig{
			Insecure: t.Insecure, ServerName: t.ServerName, CertFile: t.CertFile, KeyFile: t.KeyFile, CAFile: t.CAFile,
			CertData: t.CertData, KeyData: t.KeyData, CAData: t.CAData,
		}
	}
	if c.EnableHTTPS && config.CAFile == "" && len(config.CAData) == 0 {
		config.Insecure = true
	}
	tls, err := rest.TLSConfigFor(&config)
	if err != nil {
		return nil, err
	}
	timeout := c.HTTPTimeout.Duration
	if timeout == 0 {
		timeout = defaultTimeout
	}
	transport := utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: tls})
	return &Extender{Extender: c, http: &http.Client{Transport: transport, Timeout: timeout}}, nil
}

// IsInterested reports whether the extender is asked about a pod: all pods, or those that request one of its resources.
func (e *Extender) IsInterested(pod *corev1.Pod) bool {
	if len(e.ManagedResources) == 0 {
		return true
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			for _, managed := range e.ManagedResources {
				_, requested := list[i].Resources.Requests[corev1.ResourceName(managed.Name)]
				_, limited := list[i].Resources.Limits[corev1.ResourceName(managed.Name)]
				if requested || limited {
					return true
				}
			}
		}
	}
	return false
}

// Ignores reports whether the scheduler goes on after an error of the extender about a pod, which it then logs.
func (e *Extender) Ignores(err error, pod *corev1.Pod, log *slog.Logger) bool {
	if e.Ignorable {
		log.Warn("an ignorable extender of the scheduler has failed", "extender", e.URLPrefix, "pod", pod.Namespace+"/"+pod.Name, "error", err)
	}
	return e.Ignorable
}

// call posts a question to one of the extender's verbs, and reads the answer.
func (e *Extender) call(ctx context.Context, verb string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	url := strings.TrimRight(e.URLPrefix, "/") + "/" + verb
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("failed %v with extender at URL %v, code %v", verb, url, resp.StatusCode)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(answer)
}

// Bind binds a pod to a node. The extender has a BindVerb.
func (e *Extender) Bind(ctx context.Context, pod *corev1.Pod, node string) error {
	var answer extenderv1.ExtenderBindingResult
	err := e.call(ctx, e.BindVerb, &extenderv1.ExtenderBindingArgs{PodName: pod.Name, PodNamespace: pod.Namespace, PodUID: pod.UID, Node: node}, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return err
}
