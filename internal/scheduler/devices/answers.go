package devices

import (
	"encoding/binary"

	resourcev1 "k8s.io/api/resource/v1"
)

// answers are the remembered answers by the specs of claims, and then by node.
type answers map[string]map[string]answer

// maxSpecs is the number of lists of specs whose answers are kept.
const maxSpecs = 64

// to returns the answers for claims with the specs of these.
func (a answers) to(claims []*resourcev1.ResourceClaim) map[string]answer {
	key := keyOfSpecs(claims)
	if a[key] == nil {
		if len(a) >= maxSpecs {
			a.drop()
		}
		a[key] = map[string]answer{}
	}
	return a[key]
}

// drop forgets all answers.
func (a answers) drop() { clear(a) }

// keyOfSpecs returns an encoding of the specs of claims.
func keyOfSpecs(claims []*resourcev1.ResourceClaim) string {
	var key []byte
	for _, c := range claims {
		spec, err := c.Spec.Marshal()
		if err != nil {
			panic(err) // a spec that was decoded can be encoded
		}
		key = binary.AppendUvarint(key, uint64(len(spec)))
		key = append(key, spec...)
	}
	return string(key)
}
