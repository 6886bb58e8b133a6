package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	reviewv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// outcome formats an error in one line: code, reason, message, without the address of the webhooks and UIDs.
func (w *world) outcome(err error, uid string) string {
	if err == nil {
		return "ok"
	}
	var s *apierrors.StatusError
	if !errors.As(err, &s) {
		return err.Error()
	}
	text := fmt.Sprintf("%d %s: %s", s.ErrStatus.Code, s.ErrStatus.Reason, s.ErrStatus.Message)
	text = strings.ReplaceAll(text, w.hooks.URL, "HOOKS")
	if uid != "" {
		text = strings.ReplaceAll(text, uid, "UID")
	}
	return text
}

const internal = "500 InternalError: Internal error occurred: failed calling webhook "

// TestMessages checks that for any response or failure of a webhook, the client gets kube-apiserver's error.
func TestMessages(t *testing.T) {
	w := start(t)
	w.namespace(t, "messages")
	deny := func(result *metav1.Status) answer {
		return func(q *reviewv1.AdmissionReview) (int, any) {
			return 200, &reviewv1.AdmissionReview{TypeMeta: q.TypeMeta, Response: &reviewv1.AdmissionResponse{UID: q.Request.UID, Result: result}}
		}
	}
	body := func(code int, text string) answer {
		return func(*reviewv1.AdmissionReview) (int, any) { return code, text }
	}
	respond := func(f func(q *reviewv1.AdmissionReview, a *reviewv1.AdmissionReview)) answer {
		return func(q *reviewv1.AdmissionReview) (int, any) {
			a := &reviewv1.AdmissionReview{TypeMeta: q.TypeMeta, Response: &reviewv1.AdmissionResponse{UID: q.Request.UID, Allowed: true}}
			f(q, a)
			return 200, a
		}
	}
	patching := func(text string) answer {
		return respond(func(_, a *reviewv1.AdmissionReview) { patch(a.Response, text) })
	}
	jsonPatch := ptr.To(reviewv1.PatchTypeJSONPatch)
	for name, c := range map[string]struct {
		answer      answer
		valid, muta string // the results; "" is the same as valid, "-" is not called
	}{
		"allowed":        {respond(func(_, _ *reviewv1.AdmissionReview) {}), "ok", ""},
		"denied":         {deny(&metav1.Status{Message: "no"}), `400 : admission webhook "p.example.com" denied the request: no`, ""},
		"denied, 403":    {deny(&metav1.Status{Message: "no", Code: 403, Reason: "Forbidden"}), `403 Forbidden: admission webhook "p.example.com" denied the request: no`, ""},
		"denied, 200":    {deny(&metav1.Status{Status: "Success", Code: 200, Reason: "Tired"}), `400 Tired: admission webhook "p.example.com" denied the request: Tired`, ""},
		"denied, silent": {deny(nil), `400 : admission webhook "p.example.com" denied the request without explanation`, ""},
		"500":            {body(500, "boom"), internal + `"p.example.com": failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`, ""},
		"404":            {nil, internal + `"p.example.com": failed to call webhook: the server could not find the requested resource`, ""},
		"503":            {body(503, ""), internal + `"p.example.com": failed to call webhook: the server is currently unable to handle the request`, ""},
		"400":            {body(400, "bad"), internal + `"p.example.com": failed to call webhook: the server rejected our request for an unknown reason`, ""},
		"201":            {body(201, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`), internal + `"p.example.com": received invalid webhook response: webhook response was absent`, ""},
		"302":            {body(302, ""), internal + `"p.example.com": failed to call webhook: the server responded with the status code 302 but did not return more information`, ""},
		"empty":          {body(200, ""), internal + `"p.example.com": failed to call webhook: 0-length response with status code: 200 and content type: application/json`, ""},
		"no JSON":        {body(200, "hello"), internal + `"p.example.com": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`, ""},
		"no kind":        {body(200, `{}`), internal + `"p.example.com": received invalid webhook response: webhook response was absent`, ""},
		"another kind":   {body(200, `{"kind":"Review","apiVersion":"example.com/v1"}`), internal + `"p.example.com": failed to call webhook: no kind "Review" is registered for version "example.com/v1" in scheme "pkg/runtime/scheme.go:111"`, ""},
		"uid":            {respond(func(_, a *reviewv1.AdmissionReview) { a.Response.UID = "other" }), internal + `"p.example.com": received invalid webhook response: expected response.uid="UID", got "other"`, ""},
		"patch, no type": {respond(func(_, a *reviewv1.AdmissionReview) { a.Response.Patch = []byte("[]") }),
			internal + `"p.example.com": received invalid webhook response: validating webhook may not return response.patch`,
			internal + `"p.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType`},
		"type, no patch": {respond(func(_, a *reviewv1.AdmissionReview) { a.Response.PatchType = jsonPatch }),
			internal + `"p.example.com": received invalid webhook response: validating webhook may not return response.patchType`,
			internal + `"p.example.com": received invalid webhook response: webhook returned response.patchType but not response.patch`},
		"empty type": {respond(func(_, a *reviewv1.AdmissionReview) {
			a.Response.PatchType, a.Response.Patch = ptr.To(reviewv1.PatchType("")), []byte("[]")
		}), "-", internal + `"p.example.com": received invalid webhook response: webhook returned invalid response.patchType of ""`},
		"unknown type": {respond(func(_, a *reviewv1.AdmissionReview) {
			a.Response.PatchType, a.Response.Patch = ptr.To(reviewv1.PatchType("Merge")), []byte(`[{"op":"remove","path":"/data"}]`)
		}), "-", internal + `"p.example.com": unsupported patch type "Merge"`},
		"no patch at all":      {patching(`[]`), "-", "ok"},
		"an unreadable patch":  {patching(`{}`), "-", internal + `"p.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch`},
		"a patch of nothing":   {patching(`[{"op":"remove","path":"/spec/x"}]`), "-", "500 InternalError: Internal error occurred: remove operation does not apply: doc is missing path: \"/spec/x\": missing value"},
		"a test that fails":    {patching(`[{"op":"test","path":"/data/a","value":"z"}]`), "-", "500 InternalError: Internal error occurred: testing value /data/a failed: test failed"},
		"a wrong type":         {patching(`[{"op":"replace","path":"/data","value":3}]`), "-", "500 InternalError: Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"},
		"copies of copies":     {patching(doubling(25)), "-", "500 InternalError: Internal error occurred: Unable to complete the copy, the accumulated size increase of copy is 3932284, exceeding the limit 3145728"},
		"an invalid key":       {patching(`[{"op":"add","path":"/data/a~1b","value":"x"}]`), "-", `422 Invalid: ConfigMap "c" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`},
		"another namespace":    {patching(`[{"op":"replace","path":"/metadata/namespace","value":"default"}]`), "-", "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request"},
		"another name":         {patching(`[{"op":"replace","path":"/metadata/name","value":"d"}]`), "-", "ok"},
		"a field nobody knows": {patching(`[{"op":"add","path":"/nonsense","value":"x"}]`), "-", "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			w.hooks.on("p", c.answer)
			try := func(want string) {
				t.Helper()
				_, err := w.CoreV1().ConfigMaps("messages").Create(context.Background(), &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "b"},
				}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				uid := ""
				if asked := w.hooks.asked("p"); len(asked) > 0 {
					uid = string(asked[len(asked)-1].UID)
				}
				if got := w.outcome(err, uid); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if c.valid != "-" {
				t.Run("validating", func(t *testing.T) {
					w.validating(t, "v.example.com", w.validate("p", "messages", nil))
					try(c.valid)
				})
			}
			if c.muta == "" {
				c.muta = c.valid
			}
			w.hooks.on("p", c.answer)
			t.Run("mutating", func(t *testing.T) {
				w.mutating(t, "m.example.com", w.mutate("p", "messages", nil))
				try(c.muta)
			})
		})
	}
}

// doubling returns a JSON patch whose operations copy the results of all before them.
func doubling(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/c%d"}`, i)
	}
	return "[" + strings.Join(list, ",") + "]"
}
