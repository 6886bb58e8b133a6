package horizontalpodautoscaler

import (
	"math"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/labels"
)

// past is the history of recommendations and scalings of one autoscaler.
type past struct {
	recommended []moment // sizes
	ups, downs  []moment // how much was added, and removed
	// namespace and selector select the target's pods; guarded by autoscalers.mu.
	namespace string
	selector  labels.Selector
}

// moment is a number at a time.
type moment struct {
	n  int32
	at time.Time
}

// begin records the initial size, so that the target does not scale down at once.
func (h *past) begin(size int32, now time.Time) {
	if h.recommended == nil {
		h.recommended = []moment{{size, now}}
	}
}

// recommend adds a size and drops those older than the longest window.
func (h *past) recommend(size int32, now time.Time, longest time.Duration) {
	h.recommended = append(since(h.recommended, now.Add(-longest)), moment{size, now})
}

// scaled records a scaling, as far as policies need it.
func (h *past) scaled(b *autoscalingv2.HorizontalPodAutoscalerBehavior, from, to int32, now time.Time) {
	if b == nil {
		return
	}
	longest := func(r *autoscalingv2.HPAScalingRules) (d time.Duration) {
		for _, p := range r.Policies {
			d = max(d, time.Duration(p.PeriodSeconds)*time.Second)
		}
		return d
	}
	if to > from {
		h.ups = append(since(h.ups, now.Add(-longest(b.ScaleUp))), moment{to - from, now})
	} else {
		h.downs = append(since(h.downs, now.Add(-longest(b.ScaleDown))), moment{from - to, now})
	}
}

// since drops moments before a time.
func since(all []moment, t time.Time) []moment {
	var kept []moment
	for _, m := range all {
		if !m.at.Before(t) {
			kept = append(kept, m)
		}
	}
	return kept
}

// sum adds up the moments after a time.
func sum(all []moment, after time.Time) (n int32) {
	for _, m := range all {
		if m.at.After(after) {
			n += m.n
		}
	}
	return n
}

const (
	withinRange     = "the desired count is within the acceptable range"
	tooFast         = "the desired replica count is increasing faster than the maximum scale rate"
	tooFastDown     = "the desired replica count is decreasing faster than the maximum scale rate"
	tooMany         = "the desired replica count is more than the maximum replica count"
	tooFew          = "the desired replica count is less than the minimum replica count"
	higherLately    = "recent recommendations were higher than current one, applying the highest recent recommendation"
	lowerLately     = "recent recommendations were lower than current one, applying the lowest recent recommendation"
	matches         = "recommended size matches current size"
	minUpLimit      = 4
	upLimitMultiple = 2
)

// limit limits a size by the history, the bounds and the behavior.
func (p *pass) limit(now, desired, least int32) int32 {
	at, most, b := time.Now(), p.hpa.Spec.MaxReplicas, p.hpa.Spec.Behavior
	var steady, result int32
	var why, limited, message string
	if b == nil {
		steady, why = p.past.steady(desired, at, p.options.Stabilization)
		result, limited, message = bound(now, steady, least, most)
	} else {
		steady, why = p.past.steadyBy(b, now, desired, at, p.options.Stabilization)
		result, limited, message = p.past.boundBy(b, now, steady, least, most, at)
	}
	switch {
	case steady == desired:
		p.set(autoscalingv2.AbleToScale, true, "ReadyForNewScale", matches)
	case why == "ScaleUpStabilized":
		p.set(autoscalingv2.AbleToScale, true, why, lowerLately)
	default:
		p.set(autoscalingv2.AbleToScale, true, why, higherLately)
	}
	p.set(autoscalingv2.ScalingLimited, result != steady, limited, message)
	return result
}

// steady returns the largest size that was recommended within a window.
func (h *past) steady(desired int32, now time.Time, window time.Duration) (int32, string) {
	result := desired
	for _, m := range since(h.recommended, now.Add(-window)) {
		result = max(result, m.n)
	}
	h.recommend(desired, now, window)
	return result, "ScaleDownStabilized"
}

// bound is the rule without behavior: at most double the size at once, or four.
func bound(now, desired, least, most int32) (int32, string, string) {
	reason, message := "TooManyReplicas", tooMany
	if up := max(upLimitMultiple*now, minUpLimit); most > up {
		most, reason, message = up, "ScaleUpLimit", tooFast
	}
	switch {
	case desired < least:
		return least, "TooFewReplicas", tooFew
	case desired > most:
		return most, reason, message
	}
	return desired, "DesiredWithinRange", withinRange
}

// window returns the stabilization window of a direction.
func window(r *autoscalingv2.HPAScalingRules, otherwise time.Duration) time.Duration {
	if r == nil || r.StabilizationWindowSeconds == nil {
		return otherwise
	}
	return time.Duration(*r.StabilizationWindowSeconds) * time.Second
}

// steadyBy limits a scale-up to the smallest recommendation in one window, and a scale-down to the largest in
// another.
func (h *past) steadyBy(b *autoscalingv2.HorizontalPodAutoscalerBehavior, now, desired int32, at time.Time, otherwise time.Duration) (int32, string) {
	up, down := window(b.ScaleUp, 0), window(b.ScaleDown, otherwise)
	low, high := desired, desired
	for _, m := range h.recommended {
		if m.at.After(at.Add(-up)) {
			low = min(low, m.n)
		}
		if m.at.After(at.Add(-down)) {
			high = max(high, m.n)
		}
	}
	h.recommend(desired, at, max(up, down))
	result := min(max(now, low), high)
	if desired >= now {
		return result, "ScaleUpStabilized"
	}
	return result, "ScaleDownStabilized"
}

// boundBy is the rule with behavior: within the rate of its policies.
func (h *past) boundBy(b *autoscalingv2.HorizontalPodAutoscalerBehavior, now, desired, least, most int32, at time.Time) (int32, string, string) {
	switch {
	case desired > now:
		reason, message := "TooManyReplicas", tooMany
		if up := max(now, h.fastest(b.ScaleUp, now, at, 1)); most > up {
			most, reason, message = up, "ScaleUpLimit", tooFast
		}
		if desired > most {
			return most, reason, message
		}
	case desired < now:
		reason, message := "TooFewReplicas", tooFew
		if down := min(now, h.fastest(b.ScaleDown, now, at, -1)); least < down {
			least, reason, message = down, "ScaleDownLimit", tooFastDown
		}
		if desired < least {
			return least, reason, message
		}
	}
	return desired, "DesiredWithinRange", withinRange
}

// fastest returns the furthest size that the policies of a direction, 1 or -1, allow now: each policy counts from
// the size at the beginning of its period.
func (h *past) fastest(r *autoscalingv2.HPAScalingRules, now int32, at time.Time, direction int32) int32 {
	choose := autoscalingv2.MaxChangePolicySelect
	if r.SelectPolicy != nil {
		choose = *r.SelectPolicy
	}
	if choose == autoscalingv2.DisabledPolicySelect {
		return now
	}
	wide := choose != autoscalingv2.MinChangePolicySelect
	var result int64
	for i, policy := range r.Policies {
		began := at.Add(-time.Duration(policy.PeriodSeconds) * time.Second)
		from := int64(now) - int64(sum(h.ups, began)) + int64(sum(h.downs, began))
		to := from + int64(direction)*int64(policy.Value)
		if policy.Type == autoscalingv2.PercentScalingPolicy {
			exact := float64(from) * (1 + float64(direction)*float64(policy.Value)/100)
			if to = int64(exact); direction > 0 {
				to = int64(math.Ceil(exact))
			}
		}
		if i == 0 || wide == (int64(direction)*to > int64(direction)*result) {
			result = to
		}
	}
	return int32(min(result, math.MaxInt32))
}
