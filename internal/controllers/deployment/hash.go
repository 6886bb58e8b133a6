package deployment

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
)

// templateHash names a pod template: a 32-bit FNV-1a hash of its JSON, in which fields have a fixed order and maps
// are sorted, followed by the number of collisions so far. It is encoded in up to 10 letters and digits that form
// no words. If two templates have the same hash, the Deployment's collisionCount is incremented, which changes the
// hash.
func templateHash(t *corev1.PodTemplateSpec, collisions *int32) (string, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	h := fnv.New32a()
	h.Write(data)
	if collisions != nil {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(uint32(*collisions))))
	}
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32())), nil
}

// setName joins a Deployment's name and a hash, truncating the name if necessary.
func setName(deployment, hash string) string {
	most := validation.DNS1123SubdomainMaxLength - len("-") - len(hash)
	return deployment[:min(len(deployment), most)] + "-" + hash
}
