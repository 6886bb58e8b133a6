package write

import (
	"strings"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
)

// clearServerFields clears the metadata that only the server sets.
func clearServerFields(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// initObjectMeta gives a new object its creationTimestamp, its UID and, from generateName, its
// name.
func initObjectMeta(m metav1.Object) {
	now := metav1.Now().Rfc3339Copy()
	m.SetCreationTimestamp(now)
	m.SetUID(types.UID(uuid.NewString()))
	if m.GetName() == "" && m.GetGenerateName() != "" {
		m.SetName(generateName(m.GetGenerateName()))
	}
}

// generateName appends five random characters, within the 63 of a label.
func generateName(base string) string {
	const random = 5
	return base[:min(len(base), 63-random)] + utilrand.String(random)
}

// Warnings about owners that the client names twice, or of which admission or its patch has
// made duplicates.
const (
	ownersTwice      = ".metadata.ownerReferences contains duplicate entries"
	ownersTwiceAfter = ownersTwice + " after mutating admission happens"
)

// dedupOwners drops duplicate owner references, with a warning.
func (c *Operation) dedupOwners(m metav1.Object, what string) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return
	}
	seen := make(map[owner]bool, len(refs))
	var kept []metav1.OwnerReference
	var twice []string
	for _, r := range refs {
		if o := ownerOf(r); !seen[o] {
			seen[o] = true
			kept = append(kept, r)
		} else {
			twice = append(twice, string(r.UID))
		}
	}
	if len(twice) > 0 {
		m.SetOwnerReferences(kept)
		c.Warn(what + "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(twice, ", "))
	}
}

// owner is an owner reference in comparable form.
type owner struct {
	ref               metav1.OwnerReference // without its pointers
	controller, block int8                  // -1: not said
}

func ownerOf(r metav1.OwnerReference) owner {
	said := func(b *bool) int8 {
		switch {
		case b == nil:
			return -1
		case *b:
			return 1
		}
		return 0
	}
	o := owner{r, said(r.Controller), said(r.BlockOwnerDeletion)}
	o.ref.Controller, o.ref.BlockOwnerDeletion = nil, nil
	return o
}
