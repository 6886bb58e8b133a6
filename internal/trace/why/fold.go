package why

import "strings"

// OwnedBy reports whether the controller of the object has the UID, and the object matters for its state, as a
// Deployment's old ReplicaSets without replicas do not.
func (s *Subject) OwnedBy(uid string) bool {
	if s.Kind == "ReplicaSet" && s.number("spec", "replicas") == 0 && s.number("status", "replicas") == 0 {
		return false
	}
	return s.Controller() == uid
}

// Controller returns the UID of the controller that owns the object, or "".
func (s *Subject) Controller() string {
	for _, ref := range s.list("metadata", "ownerReferences") {
		if ref["controller"] == true {
			return str(ref["uid"])
		}
	}
	return ""
}

// Arrange returns one of each group of subjects that have the same explanation, with the names of the others, and sorts those
// that wait first. Otherwise the order stays.
func Arrange(all []Subject) []Subject {
	var waiting, rest []Subject
	at := map[string]int{} // by key: where the first of a group is in waiting or rest
	for _, s := range all {
		brief := s.brief()
		list := &rest
		if brief.Waits {
			list = &waiting
		}
		key, fold := s.key(brief)
		if i, ok := at[key]; fold && ok {
			(*list)[i].Alike = append((*list)[i].Alike, s.Name)
			continue
		}
		at[key] = len(*list)
		*list = append(*list, s)
	}
	return append(waiting, rest...)
}

// key is the same for subjects with the same explanation. Subjects that wait for parts are explained one by one.
func (s *Subject) key(brief Explanation) (key string, fold bool) {
	if s.Kind != "Pod" && (brief.Waits || owned[s.Kind] == "") {
		return s.Kind + "/" + s.Name, false
	}
	return s.anonymous(strings.Join(append([]string{s.Kind, s.Namespace, brief.State}, brief.Reasons...), "\n")), true
}

// Waits reports whether the object, without its parts, is not yet in its desired state.
func (s *Subject) Waits() bool { return s.brief().Waits }

// brief explains an object without its Events and lives, and without its parts, except a Service's, by which it waits.
func (s *Subject) brief() Explanation {
	b := Subject{Kind: s.Kind, Resource: s.Resource, Namespace: s.Namespace, Name: s.Name, Object: s.Object, Alike: s.Alike, Parts: s.Parts, Forbidden: s.Forbidden}
	if s.Kind != "Service" {
		b.Parts = absent(s.Parts)
	}
	return Explain(b)
}

// absent returns the parts that do not exist.
func absent(parts []Subject) (out []Subject) {
	for _, p := range parts {
		if p.Object == nil {
			out = append(out, p)
		}
	}
	return out
}
