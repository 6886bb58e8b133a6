//go:build purego

package purego

// Enabled reports whether the program was built with the tag purego.
const Enabled = true
