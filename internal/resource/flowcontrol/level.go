package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

var levelTable = resource.TableOf(func(l *flowcontrolv1.PriorityLevelConfiguration) []any {
	var shares, queues, hand, length any = resource.None, resource.None, resource.None, resource.None
	if limited := l.Spec.Limited; limited != nil {
		shares = ptr.Deref(limited.NominalConcurrencyShares, 0)
		if q := limited.LimitResponse.Queuing; q != nil {
			queues, hand, length = q.Queues, q.HandSize, q.QueueLengthLimit
		}
	}
	return []any{l.Name, string(l.Spec.Type), shares, queues, hand, length, resource.AgeOf(l)}
},
	resource.NameColumn,
	resource.Text("Type", "Whether requests of the level are limited."),
	resource.Text("NominalConcurrencyShares", "The level's share of what the server can do."),
	resource.Text("Queues", "How many queues the level has."),
	resource.Text("HandSize", "How many of them one flow may stand in."),
	resource.Text("QueueLengthLimit", "How many requests one queue takes."),
	resource.AgeColumn,
)

func levelStrategy() resource.Strategy {
	r := resource.SplitCounted(func(l *flowcontrolv1.PriorityLevelConfiguration) (*flowcontrolv1.PriorityLevelConfigurationSpec, *flowcontrolv1.PriorityLevelConfigurationStatus) {
		return &l.Spec, &l.Status
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(l, old *flowcontrolv1.PriorityLevelConfiguration) {
		keep(l, old)
		fields := l.ManagedFields
		l.ObjectMeta = old.ObjectMeta
		l.ManagedFields = fields
	}
	r.Default = defaultLevel
	r.Validate = validateLevel
	r.ValidateUpdate = func(l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList { return validateLevel(l) }
	return r.Strategy()
}

func defaultLevel(l *flowcontrolv1.PriorityLevelConfiguration) {
	if e := l.Spec.Exempt; e != nil {
		resource.SetDefault(&e.NominalConcurrencyShares, 0)
		resource.SetDefault(&e.LendablePercent, 0)
	}
	limited := l.Spec.Limited
	if limited == nil {
		return
	}
	resource.SetDefault(&limited.NominalConcurrencyShares, 30)
	resource.SetDefault(&limited.LendablePercent, 0)
	if q := limited.LimitResponse.Queuing; q != nil {
		if q.HandSize == 0 {
			q.HandSize = 8
		}
		if q.Queues == 0 {
			q.Queues = 64
		}
		if q.QueueLengthLimit == 0 {
			q.QueueLengthLimit = 50
		}
	}
}

func validateLevel(l *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &l.Spec
	if (l.Name == exempt) != (s.Type == flowcontrolv1.PriorityLevelEnablementExempt) {
		f.Invalid(p.Child("type"), s.Type, "must be 'Exempt' if and only if `name` is 'exempt'")
	}
	check.OneOf(&f, p.Child("type"), s.Type, flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited)
	switch at := p.Child("exempt"); {
	case s.Exempt == nil:
	case s.Type != flowcontrolv1.PriorityLevelEnablementExempt:
		f.Forbidden(at, "")
	default:
		shares(&f, at, s.Exempt.NominalConcurrencyShares, s.Exempt.LendablePercent)
	}
	switch at, is := p.Child("limited"), s.Type == flowcontrolv1.PriorityLevelEnablementLimited; {
	case is && s.Limited == nil:
		f.Required(at, "")
	case is:
		limited(&f, at, s.Limited)
	case s.Limited != nil:
		f.Forbidden(at, "")
	}
	mandatory(&f, p, l)
	return f.List()
}

// mandatory checks that a mandatory level has its fixed spec, of which users may set the shares of the exempt one.
func mandatory(f *check.Errors, p *check.Path, l *flowcontrolv1.PriorityLevelConfiguration) {
	for _, m := range bootstrap.MandatoryPriorityLevelConfigurations {
		if m.Name != l.Name {
			continue
		}
		fixed, except := m.Spec, ""
		if l.Name == exempt {
			fixed.Exempt, except = l.Spec.Exempt, " except the 'spec.exempt' field"
		}
		if !equality.Semantic.DeepEqual(fixed, l.Spec) {
			f.Invalid(p, l.Spec, fmt.Sprintf("spec of '%s'%s must equal the fixed value", l.Name, except))
		}
	}
}

func shares(f *check.Errors, p *check.Path, nominal, lendable *int32) {
	if nominal != nil && *nominal < 0 {
		f.Invalid(p.Child("nominalConcurrencyShares"), *nominal, "must be a non-negative integer")
	}
	if lendable != nil && (*lendable < 0 || *lendable > 100) {
		f.Invalid(p.Child("lendablePercent"), *lendable, "must be between 0 and 100, inclusive")
	}
}

func limited(f *check.Errors, p *check.Path, l *flowcontrolv1.LimitedPriorityLevelConfiguration) {
	shares(f, p, l.NominalConcurrencyShares, l.LendablePercent)
	if n := l.BorrowingLimitPercent; n != nil && *n < 0 {
		f.Invalid(p.Child("borrowingLimitPercent"), *n, "if specified, must be a non-negative integer")
	}
	p = p.Child("limitResponse")
	r := &l.LimitResponse
	check.OneOf(f, p.Child("type"), r.Type, flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject)
	switch at, is := p.Child("queuing"), r.Type == flowcontrolv1.LimitResponseTypeQueue; {
	case is && r.Queuing == nil:
		f.Required(at, "")
	case is:
		queuing(f, at, r.Queuing)
	case r.Queuing != nil:
		f.Forbidden(at, "")
	}
}

func queuing(f *check.Errors, p *check.Path, q *flowcontrolv1.QueuingConfiguration) {
	const maxQueues = 10_000_000
	if q.QueueLengthLimit <= 0 {
		f.Invalid(p.Child("queueLengthLimit"), q.QueueLengthLimit, "must be positive")
	}
	if q.Queues <= 0 {
		f.Invalid(p.Child("queues"), q.Queues, "must be positive")
	} else if q.Queues > maxQueues {
		f.Invalid(p.Child("queues"), q.Queues, fmt.Sprintf("must not be greater than %d", maxQueues))
	}
	if q.HandSize <= 0 {
		f.Invalid(p.Child("handSize"), q.HandSize, "must be positive")
	} else if q.HandSize > q.Queues {
		f.Invalid(p.Child("handSize"), q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues))
	}
}
