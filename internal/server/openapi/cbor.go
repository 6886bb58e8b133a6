package openapi

import "slices"

// addCBOR adds CBOR to the operations on objects. kube-apiserver describes operations on custom kinds and the group
// discovery documents without it.
func (b *builder) addCBOR() {
	for _, p := range b.paths {
		for i := range p.operations {
			op := &p.operations[i]
			if op.custom || op.group || op.answerTypes != nil && op.action != "get" {
				continue
			}
			op.answerTypes = append(slices.Clone(op.types()), "application/cbor")
			if op.stream {
				op.answerTypes = append(op.answerTypes, "application/cbor-seq")
			}
			if op.method == "patch" {
				op.bodyTypes = append(slices.Clone(op.bodyTypes), "application/apply-patch+cbor")
			}
		}
	}
}
