package node

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/fastjson"
)

// put writes a pod's status and returns the pod as the server has it then. It writes an update,
// not a patch: the request is longer, but it costs the server less. The answer to a node is
// nearly always what it has sent, with another resourceVersion, which can be told from the bytes;
// only if somebody else has changed something, as a webhook may, it is decoded.
func (k *kubelet) put(ctx context.Context, next *corev1.Pod) (*corev1.Pod, error) {
	text, err := bare(next)
	if err != nil {
		return nil, err
	}
	res, err := k.env.Client.REST().Do(ctx, client.Request{
		Method: http.MethodPut,
		Path:   "/api/v1/namespaces/" + next.Namespace + "/pods/" + next.Name + "/status",
		Body:   revised(text, next.ResourceVersion),
	})
	if err != nil {
		return nil, err
	}
	written := *next
	if revision, ok := asSent(text, res.Body); ok {
		written.ResourceVersion = revision
		return &written, nil
	}
	if written = (corev1.Pod{}); fastjson.Unmarshal(res.Body, &written) {
		return &written, nil
	}
	written = corev1.Pod{}
	return &written, json.Unmarshal(res.Body, &written)
}

const (
	inMetadata = `{"kind":"Pod","apiVersion":"v1","metadata":{`
	revision   = `"resourceVersion":"`
)

// bare is the text of a pod without its resourceVersion and its record of managers. The server
// keeps its own of those; what a status write says of them does not count.
func bare(pod *corev1.Pod) ([]byte, error) {
	p := *pod
	p.APIVersion, p.Kind, p.ResourceVersion, p.ManagedFields = "v1", "Pod", "", nil
	if text, ok := fastjson.Marshal(&p); ok {
		return text, nil
	}
	return json.Marshal(&p)
}

// revised is a bare text with a resourceVersion, on which the write then depends.
func revised(text []byte, version string) []byte {
	body := make([]byte, 0, len(text)+len(revision)+len(version)+2)
	body = append(append(body, inMetadata...), revision...)
	body = append(append(body, version...), `",`...)
	return append(body, text[len(inMetadata):]...)
}

// asSent says that an answer is the object of a bare text, and which resourceVersion it has got.
// Servers put that where they like; the record of managers is the last of metadata. No text
// within quotes can be taken for what is looked for here, since its own quotes are escaped.
func asSent(text, answer []byte) (version string, ok bool) {
	at := bytes.Index(answer, []byte(revision))
	if at < len(inMetadata) || at > len(text) || !bytes.Equal(answer[:at], text[:at]) {
		return "", false
	}
	text, answer = text[at:], bytes.TrimRight(answer[at+len(revision):], "\n")
	v, answer, _ := bytes.Cut(answer, []byte(`",`))
	end := bytes.Index(text, []byte(`},"spec":{`))
	if end < 0 {
		return "", false
	}
	managers, ok := bytes.CutPrefix(answer, text[:end])
	if !ok {
		return "", false
	}
	if managers, ok = bytes.CutSuffix(managers, text[end:]); !ok {
		return "", false
	}
	ok = len(managers) == 0 || bytes.HasPrefix(managers, []byte(`,"managedFields":[`)) && managers[len(managers)-1] == ']'
	return string(v), ok
}

// toSeconds makes the times of a status what they are for who reads it.
func toSeconds(s *corev1.PodStatus) {
	cut := func(t *metav1.Time) { t.Time = t.Truncate(time.Second) }
	if s.StartTime != nil {
		cut(s.StartTime)
	}
	for i := range s.Conditions {
		cut(&s.Conditions[i].LastTransitionTime)
		cut(&s.Conditions[i].LastProbeTime)
	}
	state := func(c *corev1.ContainerState) {
		if c.Running != nil {
			cut(&c.Running.StartedAt)
		}
		if c.Terminated != nil {
			cut(&c.Terminated.StartedAt)
			cut(&c.Terminated.FinishedAt)
		}
	}
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			state(&list[i].State)
			state(&list[i].LastTerminationState)
		}
	}
}
