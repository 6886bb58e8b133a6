package openapi

import "slices"

// addCBOR adds the encoding to the operations on objects, but those of custom kinds and the
// documents of discovery that name groups, which kube-apiserver describes without it
// too.
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
