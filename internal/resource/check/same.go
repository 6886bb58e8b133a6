package check

import (
	"fairlead.dev/internal/codec"
)

// Same reports whether two values are semantically equal: nil equals empty, and quantities may have different
// formats. They are pointers to one type.
func Same(a, b any) bool { return codec.Equal(a, b) }
