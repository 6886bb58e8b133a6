package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Restore returns the object to write to go back to a state: that of the state with the status and
// the server-set metadata of the current object, for an update on the condition that this is still
// current. Without a current object it is one to create.
func Restore(state, current map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(state)
	delete(out, "status")
	meta, _ := out["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	for _, f := range serverSet {
		delete(meta, f)
	}
	if current == nil {
		return out
	}
	current = runtime.DeepCopyJSON(current)
	if status, ok := current["status"]; ok {
		out["status"] = status
	}
	now, _ := current["metadata"].(map[string]any)
	for _, f := range serverSet {
		if v, ok := now[f]; ok && f != "managedFields" {
			meta[f] = v
		}
	}
	return out
}

// ErrNoUserChange is the error of a Search that finds no change by a user.
var ErrNoUserChange = errors.New("no change by a user is in the kept history")

// Search finds the state to go back to by default: that before the last change that a user
// made to fields outside of the status and the server-set metadata. Changes by the parts of the
// control plane do not count; see State.ByControlPlane. After a deletion it is the last state,
// also if a controller deleted the object.
type Search struct {
	newer  *State
	object map[string]any // of newer
}

// Add adds the next older state with its decoded object, and reports whether it is the one.
func (f *Search) Add(s *State, object map[string]any) (found bool, err error) {
	newer, now := f.newer, f.object
	f.newer, f.object = s, object
	switch {
	case newer == nil:
		return false, nil
	case newer.Type == Deleted:
		return object != nil, nil
	case newer.Type == Added:
		return false, fmt.Errorf("the first change by a user is the creation, revision %d: delete the object to undo it", newer.Revision)
	case newer.ByControlPlane() || s.Error != "" || newer.Error != "":
		return false, nil
	}
	for _, c := range Changes(object, now) {
		if !c.Path.ServerSet() {
			return true, nil
		}
	}
	return false, nil
}

// End returns the error of a search that has seen all states.
func (f *Search) End() error {
	if f.newer != nil && f.newer.Type == Added {
		return fmt.Errorf("the only change by a user is the creation, revision %d: delete the object to undo it", f.newer.Revision)
	}
	return ErrNoUserChange
}

// ByControlPlane reports whether a part of the control plane made the state: a controller of
// kube-system, the scheduler, a node, or the server itself. Of a write that the trace does not have
// it is known by the field managers.
func (s *State) ByControlPlane() bool {
	if s.Recorded {
		return s.Verb == "" || slices.ContainsFunc(controlPlaneUsers, func(prefix string) bool { return strings.HasPrefix(s.User, prefix) })
	}
	return len(s.Managers) > 0 && !slices.ContainsFunc(s.Managers, func(manager string) bool {
		return !strings.HasSuffix(manager, "-controller") && !slices.Contains(controlPlaneManagers, manager)
	})
}

// controlPlaneUsers are the prefixes of the users of the control plane's parts, and
// controlPlaneManagers their field managers, beside those of single controllers.
var (
	controlPlaneUsers    = []string{"system:serviceaccount:kube-system:", "system:kube-", "system:node:", "system:apiserver"}
	controlPlaneManagers = []string{"fairlead", "kube-controller-manager", "kube-scheduler", "kubelet"}
)
