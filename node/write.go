package node

import (
	"bytes"
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec"
)

// put writes a pod's status and returns the pod as the server then has it. It sends an update instead of a patch:
// the request is longer, but costs the server less. The answer nearly always equals the request but for
// resourceVersion, which the bytes show; it is decoded only if another writer, such as a webhook, has changed
// something.
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
	written = corev1.Pod{}
	var d *codec.Decoder
	return &written, d.JSON(res.Body, &written, false)
}

const (
	inMetadata     = `{"kind":"Pod","apiVersion":"v1","metadata":{`
	revisionMember = `"resourceVersion":"`
)

// bare returns the JSON of a pod without resourceVersion and managedFields. The server keeps its own of these and
// ignores those of a status write.
func bare(pod *corev1.Pod) ([]byte, error) {
	p := *pod
	p.APIVersion, p.Kind, p.ResourceVersion, p.ManagedFields = "v1", "Pod", "", nil
	return codec.MarshalJSON(&p)
}

// revised adds a resourceVersion to the result of bare, on which the write then depends.
func revised(text []byte, version string) []byte {
	body := make([]byte, 0, len(text)+len(revisionMember)+len(version)+2)
	body = append(append(body, inMetadata...), revisionMember...)
	body = append(append(body, version...), `",`...)
	return append(body, text[len(inMetadata):]...)
}

// asSent reports whether an answer is the object of a bare text, and its resourceVersion. Servers put that
// anywhere in metadata; managedFields are its last member. No string inside the text can be mistaken for these
// members, since its quotes are escaped.
func asSent(text, answer []byte) (version string, ok bool) {
	at := bytes.Index(answer, []byte(revisionMember))
	if at < len(inMetadata) || at > len(text) || !bytes.Equal(answer[:at], text[:at]) {
		return "", false
	}
	text, answer = text[at:], bytes.TrimRight(answer[at+len(revisionMember):], "\n")
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
