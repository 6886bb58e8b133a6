package deployment

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of ReplicaSets; the Deployment has the revision too. kubectl reads the revision for `rollout history`
// and `undo`.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history" // revisions it had before, by comma
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas" // the desired size when the set was last sized
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"     // the maximum size at that time, with maxSurge

	// historyLimit bounds historyAnnotation, in bytes; the oldest revisions are dropped.
	historyLimit = 2000
)

// private are the Deployment's annotations that its sets do not inherit.
var private = []string{
	corev1.LastAppliedConfigAnnotation, revisionAnnotation, historyAnnotation,
	desiredAnnotation, maxAnnotation, appsv1.DeprecatedRollbackTo,
}

// revision returns an object's revision, zero if it has no valid one.
func revision(o metav1.Object) int64 {
	n, _ := strconv.ParseInt(o.GetAnnotations()[revisionAnnotation], 10, 64)
	return n
}

// nextRevision is one more than the highest among the sets.
func nextRevision(sets []*appsv1.ReplicaSet) int64 {
	highest := int64(0)
	for _, rs := range sets {
		highest = max(highest, revision(rs))
	}
	return highest + 1
}

// byRevision orders sets by revision, lowest first, and equal ones by age.
func byRevision(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(cmp.Compare(revision(a), revision(b)), byAge(a, b))
}

// annotate gives the new set the Deployment's annotations and at least the revision next. If it had a lower
// revision, that is added to the history. It reports whether it changed anything. The set must be the caller's own.
func annotate(d *appsv1.Deployment, rs *appsv1.ReplicaSet, next int64) bool {
	if rs.Annotations == nil {
		rs.Annotations = make(map[string]string)
	}
	changed := false
	for k, v := range d.Annotations {
		if old, ok := rs.Annotations[k]; (ok && old == v) || slices.Contains(private, k) {
			continue
		}
		rs.Annotations[k] = v
		changed = true
	}
	old, had := rs.Annotations[revisionAnnotation]
	before, err := strconv.ParseInt(old, 10, 64)
	if err != nil && old != "" {
		return changed // invalid, and left alone
	}
	if before >= next {
		return changed
	}
	rs.Annotations[revisionAnnotation] = strconv.FormatInt(next, 10)
	if had {
		rs.Annotations[historyAnnotation] = remember(rs.Annotations[historyAnnotation], old)
	}
	return true
}

// remember appends a revision to a history, dropping the oldest beyond the limit.
func remember(history, revision string) string {
	if history == "" {
		return revision
	}
	all := history + "," + revision
	for len(all) > historyLimit {
		_, rest, ok := strings.Cut(all, ",")
		if !ok {
			return history
		}
		all = rest
	}
	return all
}

// recordDesired records the Deployment's desired and maximum size in the set.
func recordDesired(rs *appsv1.ReplicaSet, desired, most int32) {
	if rs.Annotations == nil {
		rs.Annotations = make(map[string]string)
	}
	rs.Annotations[desiredAnnotation] = strconv.Itoa(int(desired))
	rs.Annotations[maxAnnotation] = strconv.Itoa(int(most))
}

func desiredDiffers(rs *appsv1.ReplicaSet, desired, most int32) bool {
	return rs.Annotations[desiredAnnotation] != strconv.Itoa(int(desired)) ||
		rs.Annotations[maxAnnotation] != strconv.Itoa(int(most))
}

// recordedNumber reads a number written by recordDesired.
func recordedNumber(rs *appsv1.ReplicaSet, annotation string) (int32, bool) {
	n, err := strconv.ParseInt(rs.Annotations[annotation], 10, 32)
	return int32(n), err == nil && n >= 0
}
