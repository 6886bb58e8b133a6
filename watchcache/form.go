package watchcache

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/watch"
)

// Form names an encoding of an object other than its stored bytes: protobuf, a
// table's row, another API version, a watch frame. Two builders that use the
// same Form must build the same bytes.
type Form string

// formKey tells an object's own forms (no type) from those of the events that
// carry it. An object's state enters and leaves a selection at one revision
// each, so the type is enough to tell its events apart.
type formKey struct {
	form Form
	typ  watch.EventType
}

// form is one encoding kept with its object, in a list.
type form struct {
	key  formKey
	next *form
	// used is the round of forms in which somebody asked last.
	used  atomic.Uint32
	once  sync.Once
	bytes []byte
	err   error
}

// errBuilder is what those get who waited for a builder that panicked.
var errBuilder = errors.New("watchcache: the builder of a form panicked")

// Form returns the object in another encoding. build runs once however many
// ask at the same time, and again only if nobody asked for a while or the bytes had
// to make room for others: the hub keeps HubOptions.FormBytes of all forms. A failure is returned to those who waited for it and is not kept. The bytes are
// shared and must not be changed.
func (o *Object) Form(id Form, build func(*Object) ([]byte, error)) ([]byte, error) {
	return o.form(formKey{form: id}, func() ([]byte, error) { return build(o) })
}

func (o *Object) form(key formKey, build func() ([]byte, error)) ([]byte, error) {
	f := o.findForm(key)
	if now := o.cache.hub.forms.round.Load(); f.used.Load() != now {
		f.used.Store(now)
	}
	f.once.Do(func() {
		f.err = errBuilder
		if f.bytes, f.err = build(); f.err != nil {
			o.dropForm(f)
			return
		}
		o.cache.hub.forms.keep(o, f)
	})
	return f.bytes, f.err
}

// findForm finds the form or adds one that is not built yet.
func (o *Object) findForm(key formKey) *form {
	var fresh *form
	for {
		head := o.forms.Load()
		for f := head; f != nil; f = f.next {
			if f.key == key {
				return f
			}
		}
		if fresh == nil {
			fresh = &form{key: key}
		}
		fresh.next = head
		if o.forms.CompareAndSwap(head, fresh) {
			return fresh
		}
	}
}

// dropForm takes one form from the list. Others' nodes are not changed, as
// readers may stand on them: what stands before the dropped one is replaced,
// which costs those a second build at worst.
func (o *Object) dropForm(drop *form) {
	for {
		head := o.forms.Load()
		f := head
		for f != nil && f != drop {
			f = f.next
		}
		if f == nil || o.forms.CompareAndSwap(head, drop.next) {
			return
		}
	}
}

// forms bounds the memory of all forms of a hub. What has to make room is drawn by
// lot: the first or the least used one would be the wrong choice for lists, which
// walk over all objects again and again. If those were one more than there is
// room for, each form would be dropped just before it is asked for again.
type forms struct {
	limit int
	size  atomic.Int64
	// round counts sweeps.
	round atomic.Uint32
	mu    struct {
		sync.Mutex
		kept []keptForm
	}
}

type keptForm struct {
	object *Object
	form   *form
	// size is what dropping the entry may set free. Objects that are listed are in
	// their cache anyhow; those of events are soon replaced, and held by nothing
	// else.
	size int
}

func (fs *forms) keep(o *Object, f *form) {
	k := keptForm{o, f, len(f.bytes)}
	if f.key.typ != "" {
		k.size += len(o.kv().Value)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	size := fs.size.Add(int64(k.size))
	for size > int64(fs.limit) && len(fs.mu.kept) > 0 {
		size = fs.drop(rand.IntN(len(fs.mu.kept)))
	}
	fs.mu.kept = append(fs.mu.kept, k)
}

// drop lets go of one entry and returns the size of the rest. fs.mu is held.
func (fs *forms) drop(i int) int64 {
	last := len(fs.mu.kept) - 1
	out := fs.mu.kept[i]
	fs.mu.kept[i] = fs.mu.kept[last]
	fs.mu.kept[last] = keptForm{}
	fs.mu.kept = fs.mu.kept[:last]
	out.object.dropForm(out.form)
	return fs.size.Add(-int64(out.size))
}

// sweep drops what nobody has asked for since the sweep before the last one.
func (fs *forms) sweep() {
	now := fs.round.Add(1)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := len(fs.mu.kept) - 1; i >= 0; i-- {
		if now-fs.mu.kept[i].form.used.Load() > 1 {
			fs.drop(i)
		}
	}
	if len(fs.mu.kept) < cap(fs.mu.kept)/4 {
		fs.mu.kept = slices.Clone(fs.mu.kept)
	}
}
