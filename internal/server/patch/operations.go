package patch

import (
	"context"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

const (
	// maxCopied is how many bytes the copy operations of a JSON patch may add:
	// kube-apiserver's JSONPatchMaxCopyBytes.
	maxCopied = 3 << 20
	// stride is how many operations are applied between two checks of the context.
	stride = 1000
)

// The library keeps its limit in a variable. A lower limit set by the program stays.
func init() {
	if l := jsonpatch.AccumulatedCopySizeLimit; l <= 0 || l > maxCopied {
		jsonpatch.AccumulatedCopySizeLimit = maxCopied
	}
}

// Operations are the operations of a JSON patch, from a client, a webhook or a MutatingAdmissionPolicy.
type Operations struct {
	list jsonpatch.Patch
	size int
}

// ErrTestFailed is wrapped by the error of Apply if a test operation failed.
var ErrTestFailed = jsonpatch.ErrTestFailed

// ParseOperations decodes a JSON patch.
func ParseOperations(text []byte) (Operations, error) {
	list, err := jsonpatch.DecodePatch(text)
	return Operations{list, len(text)}, err
}

// Len returns the number of operations.
func (o Operations) Len() int { return len(o.list) }

// Apply returns the document that results from applying the operations to doc. The result is at most as large as
// doc, the patch and 3 MiB of copies together; a patch that exceeds this fails with
// *jsonpatch.AccumulatedCopySizeError. Apply also fails when ctx ends.
func (o Operations) Apply(ctx context.Context, doc []byte) ([]byte, error) {
	most := len(doc) + o.size + maxCopied
	for rest := o.list; ; {
		n := min(len(rest), stride)
		next, err := rest[:n].Apply(doc)
		if err != nil {
			return nil, err
		}
		doc, rest = next, rest[n:]
		switch {
		case len(rest) == 0:
			return doc, nil
		case len(doc) > most:
			return nil, jsonpatch.NewAccumulatedCopySizeError(maxCopied, int64(maxCopied+len(doc)-most))
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}
