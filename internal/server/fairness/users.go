package fairness

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"fairlead.dev/internal/server/auth"
)

// users remembers which rules concern a user, since most requests are of few users. Each user has one slot, which the last
// user of that slot owns.
type users struct {
	slots [256]atomic.Pointer[userRules]
}

type userRules struct {
	name   string
	groups []string
	rules  []schemaRule
}

type schemaRule struct {
	schema *schema
	rule   *rule
}

var userSeed = maphash.MakeSeed()

// rulesOf returns the rules with a subject that is the user, in the order in which they are tried.
func (m *users) rulesOf(p *plan, u *auth.User) []schemaRule {
	hash := maphash.String(userSeed, u.Name)
	slot := &m.slots[hash%uint64(len(m.slots))]
	if r := slot.Load(); r != nil && r.name == u.Name && slices.Equal(r.groups, u.Groups) {
		return r.rules
	}
	r := &userRules{name: u.Name, groups: slices.Clone(u.Groups)}
	for _, s := range p.schemas {
		for i := range s.rules {
			if s.rules[i].concerns(u) {
				r.rules = append(r.rules, schemaRule{s, &s.rules[i]})
			}
		}
	}
	slot.Store(r)
	return r.rules
}
