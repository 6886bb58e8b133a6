package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/dynamic"
	"fairlead.dev/internal/server/patch"
)

type mutating struct {
	common
	hooks *dynamic.Configured[[]*hook]
}

// Name implements admission.Plugin.
func (*mutating) Name() string { return "MutatingAdmissionWebhook" }

// Admit implements admission.Mutator.
func (p *mutating) Admit(ctx context.Context, r *admission.Request) error {
	list, err := p.hooks.List(ctx, dynamic.Present(r))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(list) == 0 || dynamic.Exempt(r) {
		return nil
	}
	rounds := admission.Note[dynamic.Rounds](r, p)
	rounds.Begin(r)
	defer rounds.End(r)
	all := views{}
	at := -1
	for _, hooks := range list {
		for _, h := range hooks {
			at++
			view, err := p.wants(ctx, h, r, all)
			if err != nil {
				return err
			}
			if view == nil || !rounds.Asks(r, h.id) {
				continue
			}
			began := time.Now()
			changed, patch, err := p.change(ctx, h, r, view)
			took := time.Since(began)
			waited(r, took)
			p.metrics.asked(h, "admit", r.Verb, err, took)
			annotateCall(ctx, h, r, at, changed, patch)
			if changed {
				all = views{}
				rounds.Changed(r)
			}
			if h.reinvoke {
				rounds.MayAskAgain(h.id)
			}
			var no denied
			if errors.As(err, &no) {
				return no.StatusError
			}
			if settled := settle(ctx, h, err); settled != nil {
				return settled
			}
			if err != nil {
				annotateFailedOpen(ctx, h, "mutation", place(r.SecondRun(), at))
			}
		}
	}
	return nil
}

// change calls one webhook and applies its patch, which it returns.
func (p *mutating) change(ctx context.Context, h *hook, r *admission.Request, v *dynamic.View) (changed bool, applied []byte, err error) {
	a, err := p.ask(ctx, h, v, r.DryRun, true)
	if err != nil {
		return false, nil, err
	}
	warn(r, a)
	annotate(ctx, h, a)
	if !a.Allowed {
		return false, nil, denied{refusal(h.Name, a.Result)}
	}
	if len(a.Patch) == 0 {
		return false, nil, nil
	}
	ops, err := patch.ParseOperations(a.Patch)
	if err != nil {
		return false, nil, &failure{h.Name, fmt.Errorf("received undecodable patch in webhook response: %w", err), http.StatusServiceUnavailable}
	}
	if ops.Len() == 0 {
		return false, nil, nil
	}
	if v.Object == nil {
		return false, nil, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	}
	if *a.PatchType != reviewv1.PatchTypeJSONPatch {
		return false, nil, &failure{h.Name, fmt.Errorf("unsupported patch type %q", *a.PatchType), http.StatusBadRequest}
	}
	before := r.Object
	obj, err := patched(ctx, v, ops)
	if err == nil {
		err = v.Put(ctx, obj)
	}
	if err != nil {
		return false, nil, apierrors.NewInternalError(err)
	}
	return !equality.Semantic.DeepEqual(before, r.Object), a.Patch, nil
}

// patched returns the view's object after a patch.
func patched(ctx context.Context, v *dynamic.View, ops patch.Operations) (runtime.Object, error) {
	text, err := v.Text()
	if err != nil {
		return nil, err
	}
	if text, err = ops.Apply(ctx, text); err != nil {
		return nil, err
	}
	obj := v.Empty()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, obj); err != nil {
		return nil, err
	}
	if got := obj.GetObjectKind().GroupVersionKind(); got != v.Kind {
		return nil, fmt.Errorf("the patch makes a %s of a %s", got, v.Kind)
	}
	return obj, nil
}
