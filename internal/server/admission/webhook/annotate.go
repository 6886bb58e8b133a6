package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	reviewv1 "k8s.io/api/admission/v1"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/audit"
)

// callNote is the value of the annotations of a call of a mutating webhook, which are upstream's.
type callNote struct {
	Configuration string          `json:"configuration"`
	Webhook       string          `json:"webhook"`
	Mutated       *bool           `json:"mutated,omitempty"`
	Patch         json.RawMessage `json:"patch,omitempty"`
	PatchType     string          `json:"patchType,omitempty"`
}

// annotate adds the annotations that a webhook has answered with to the audit event of the request.
func annotate(ctx context.Context, h *hook, a *reviewv1.AdmissionResponse) {
	for key, value := range a.AuditAnnotations {
		audit.Annotate(ctx, h.Name+"/"+key, value)
	}
}

// annotateCall adds annotations about a call of a mutating webhook: whether it has changed the object, and its patch if
// the event has bodies. at is the webhook's place among all.
func annotateCall(ctx context.Context, h *hook, r *admission.Request, at int, changed bool, patch []byte) {
	if !audit.Annotates(ctx) {
		return
	}
	put := func(prefix string, note callNote) {
		if text, err := json.Marshal(note); err == nil {
			audit.Annotate(ctx, prefix+place(r.SecondRun(), at), string(text))
		}
	}
	put("mutation.webhook.admission.k8s.io/", callNote{Configuration: h.configuration, Webhook: h.Name, Mutated: &changed})
	if len(patch) > 0 && audit.AnnotatesBodies(ctx) {
		put("patch.webhook.admission.k8s.io/", callNote{Configuration: h.configuration, Webhook: h.Name, Patch: patch, PatchType: string(reviewv1.PatchTypeJSONPatch)})
	}
}

// annotateFailedOpen adds an annotation about a webhook of the sort (mutation or validating) whose failure is ignored.
func annotateFailedOpen(ctx context.Context, h *hook, sort, place string) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		audit.Annotate(ctx, "failed-open."+sort+".webhook.admission.k8s.io/"+place, h.Name)
	}
}

// place names a call within the request: the run of the plugin and the webhook's place among all.
func place(secondRun bool, at int) string {
	run := 0
	if secondRun {
		run = 1
	}
	return fmt.Sprintf("round_%d_index_%d", run, at)
}
