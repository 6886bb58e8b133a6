package call

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/watchcache"
)

// answers has buffers for responses of one object.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptAnswer bounds the bytes of a buffer that is kept.
const maxKeptAnswer = 64 << 10

// AnswerStored answers with an object of the watch cache.
func (c *Call) AnswerStored(code int, o *watchcache.Object) error {
	f, err := c.Representation()
	if err != nil {
		return err
	}
	if err := f.CheckShape(false); err != nil {
		return err
	}
	buf := answers.Get().(*[]byte)
	defer answers.Put(buf)
	element, err := f.AppendElement((*buf)[:0], o)
	if err != nil {
		return err
	}
	if cap(element) <= maxKeptAnswer {
		*buf = element[:0]
	}
	body, err := f.Body(element, o.Revision().String())
	if err != nil {
		return err
	}
	return c.WriteBytes(code, f.Media.String(), body)
}

// AnswerTyped answers with an object of the hub version.
func (c *Call) AnswerTyped(code int, obj runtime.Object, rev string) error {
	f, err := c.Representation()
	if err != nil {
		return err
	}
	if err := f.CheckShape(false); err != nil {
		return err
	}
	element, err := f.Encode(obj)
	if err != nil {
		return err
	}
	body, err := f.Body(element, rev)
	if err != nil {
		return err
	}
	return c.WriteBytes(code, f.Media.String(), body)
}
