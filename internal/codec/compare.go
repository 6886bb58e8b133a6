package codec

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/purego"
)

// Equal reports whether two pointers to one type lead to semantically equal values: nil equals empty, and quantities
// may have different formats. Most compared values are equal, which the fast codec detects in a fraction of the time
// of reflection.
func Equal(a, b any) bool {
	return !purego.Enabled && fastjson.Equal(a, b) || apiequality.Semantic.DeepEqual(a, b)
}
