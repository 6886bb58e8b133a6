package object

// MaxTouched is how many objects Touch takes at once.
const MaxTouched = 16

// Touch reads a byte of the memory that the next reader needs from each object, and returns a value
// of these bytes, so that no compiler drops the reads. From the tree to an object's bytes there are
// four pointers, each to a place that is in no cache of the processor in a large list, so each costs
// a wait. Taken for many objects at once, level by level, their waits overlap.
func Touch(objects []*Object) (touched byte) {
	var bodies [MaxTouched]*body
	var values [MaxTouched][]byte
	for i, o := range objects {
		bodies[i] = o.body.Load()
	}
	for i := range objects {
		values[i] = bodies[i].kv.Value
	}
	for i, o := range objects {
		// Another encoding, if there is one, is likely to be the one that is read.
		if v := values[i]; o.encodings.head.Load() == nil && len(v) > 0 {
			touched ^= v[0]
		}
	}
	return touched
}
