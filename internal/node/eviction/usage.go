package eviction

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// SystemAnnotation of a Node is the usage of its machine beside that of its pods, in the form of ParseUsage.
const SystemAnnotation = "fairlead.dev/system-usage"

// ParseUsage reads amounts by resource, such as memory=200Gi,ephemeral-storage=80Gi,processes=30000.
func ParseUsage(text string) (u Usage, err error) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, amount, _ := strings.Cut(item, "=")
		to := map[string]*int64{"memory": &u.Memory, "ephemeral-storage": &u.Storage, "processes": &u.Processes}[name]
		q, err := resource.ParseQuantity(amount)
		if err != nil || to == nil || q.Sign() < 0 {
			return u, fmt.Errorf("%s: want memory, ephemeral-storage or processes, and an amount", item)
		}
		*to = q.Value()
	}
	return u, nil
}
